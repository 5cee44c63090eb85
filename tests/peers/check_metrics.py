"""Reads OpenMetrics text from standard input with the parser of Prometheus's own client library, and
prints a line for each sample: its name, type, unit, target and value."""
import sys

from prometheus_client.openmetrics.parser import text_string_to_metric_families

for family in text_string_to_metric_families(sys.stdin.read()):
    for sample in family.samples:
        assert family.documentation
        print(sample.name, family.type, family.unit or "-", sample.labels.get("target", "-"), float(sample.value))
