// Reads interval logs with HdrHistogram's own reader. Prints for each file the start time in
// milliseconds; the start, length and count of each interval; and of their sum the percentiles
// and the buckets, in microseconds.
import java.util.Locale;
import java.util.StringJoiner;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;
import org.HdrHistogram.HistogramLogReader;

public class ReadIntervalLog {
    public static void main(String[] files) throws Exception {
        for (String file : files) print(new HistogramLogReader(file));
    }

    static void print(HistogramLogReader reader) throws Exception {
        Histogram sum = new Histogram(1, 2, 2);
        sum.setAutoResize(true);
        Histogram next = (Histogram) reader.nextIntervalHistogram();
        long began = Math.round(reader.getStartTimeSec() * 1000);
        System.out.println("began " + began);
        for (; next != null; next = (Histogram) reader.nextIntervalHistogram()) {
            long length = next.getEndTimeStamp() - next.getStartTimeStamp();
            System.out.println("interval " + (next.getStartTimeStamp() - began) + " " + length
                    + " " + next.getTotalCount());
            sum.add(next);
        }
        for (String percent : new String[] {"50", "90", "95", "99", "99.9", "99.99"})
            System.out.println("p" + percent + " "
                    + microseconds(sum.getValueAtPercentile(Double.parseDouble(percent))));
        StringJoiner buckets = new StringJoiner(",", "[", "]");
        for (HistogramIterationValue value : sum.recordedValues())
            buckets.add("[" + microseconds(value.getValueIteratedTo()) + ","
                    + value.getCountAddedInThisIterationStep() + "]");
        System.out.println("count " + sum.getTotalCount() + "\nbuckets " + buckets);
    }

    static String microseconds(long nanoseconds) {
        return String.format(Locale.ROOT, "%.3f", nanoseconds / 1000.0);
    }
}
