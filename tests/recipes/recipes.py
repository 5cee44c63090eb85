#!/usr/bin/env python3
"""Runs a recipe of contrib/recipes as it stands.

usage: recipes.py NAME SOURCE_FOLDER YODEL YODEL_LOAD YODELD     (parallel, slurm, kubernetes, container, github, gitlab)

Only addresses, ports and the length of runs are replaced. The exit status is 77 if a program is
missing that the recipe needs.
"""
import contextlib
import getpass
import os
import pathlib
import random
import re
import shlex
import socket
import subprocess
import sys
import tarfile
import tempfile
import time

LIMIT = 60  # seconds, for one command
SSHD = "/usr/sbin/sshd"
SKIPPED = 77


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def require(condition, text):
    if not condition:
        raise Failed(text)


def need(*probes):
    deps = pathlib.Path(__file__).parents[2] / "contrib/packaging/deps"
    lack = subprocess.run([deps, "need", *probes], capture_output=True, text=True)
    if lack.returncode:
        raise Skipped(lack.stdout.strip())


def need_yaml():
    need("py:yaml")
    import yaml
    return yaml


def wait_for(condition, what):
    until = time.monotonic() + LIMIT
    while not condition():
        require(time.monotonic() < until, f"in vain: waiting until {what}")
        time.sleep(0.02)


def free_port():
    """Returns a port below the ephemeral ports, so that no outgoing connection takes it before its server listens."""
    while True:
        with contextlib.suppress(OSError), socket.socket() as tcp:
            port = random.randrange(20000, 32000)
            tcp.bind(("", port))
            return port


def listens(port, host="127.0.0.1"):
    with contextlib.suppress(OSError), socket.create_connection((host, port)):
        return True
    return False


def added_up(text, runs, messages):
    """Whether a text contains the total of runs without a failure."""
    return re.search(rf"^{runs} runs\b.*: {messages} sent, {messages} echoed, 0 bad, 0 lost", text, re.M)


class Test:
    """Has a folder and programs that end with the test."""

    def __init__(self, source, yodel, load, yodeld):
        self.recipes = source / "contrib/recipes"
        self.manual = source / "app/yodel.1"
        self.yodel = yodel
        self.load = load
        self.yodeld = yodeld
        self.stack = contextlib.ExitStack()
        self.folder = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory()))

    def start(self, *command):
        with open(self.folder / "log", "ab") as log:
            program = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log)
        self.stack.callback(program.wait)
        self.stack.callback(program.terminate)
        return program

    def start_yodeld(self, *options):
        port_file = self.folder / "port"
        port_file.unlink(missing_ok=True)
        self.start(self.yodeld, "--port-file", port_file, *options, "0")
        wait_for(lambda: port_file.exists() and port_file.read_text(), "yodeld listens")
        return int(port_file.read_text())

    def run(self, *command, **environment):
        """Runs a command without a pipe, so that a server that it starts may keep running."""
        with open(self.folder / "out", "w+") as out, open(self.folder / "err", "w+") as err:
            done = subprocess.run(command, cwd=self.folder, env={**os.environ, **environment}, stdout=out,
                                  stderr=err, stdin=subprocess.DEVNULL, timeout=LIMIT)
            out.seek(0)
            err.seek(0)
            done.stdout = out.read()
            done.stderr = err.read()
            return done

    def succeed(self, *command, **environment):
        done = self.run(*command, **environment)
        require(done.returncode == 0, f"{command}: status {done.returncode}: {done.stdout}{done.stderr}")
        return done

    def text(self, name):
        return (self.recipes / name).read_text("utf-8")

    def release(self):
        """Makes an archive of the programs, as `make release` does. Returns its address."""
        name = self.folder / "release.tar.gz"
        with tarfile.open(name, "w:gz", compresslevel=1) as archive:
            for program in (self.yodel, self.load, self.yodeld):
                archive.add(program, f"yodel-0-linux/bin/{program.name}")
            archive.add(self.recipes, "yodel-0-linux/share/doc/yodel/recipes")
        return f"file://{name}"


def with_time(run):
    """Runs with more seconds for connecting until the machine is fast enough. Returns status and output."""
    for seconds in (3, 9, 27):
        status, output = run(seconds)
        if "has passed" not in output:
            break
    return status, output


def check_two(test, run, target, failing):
    """Checks the total of two runs. Returns status and output if one of them fails by a script."""
    arguments = [target, "--rate", "200", "-m", "300ms", "--require", "sent>1", "--require=sent<120"]
    status, output = with_time(lambda start: run(start, test.load, *arguments))
    require(status == 1 and "required sent<120, was 120" in output, f"the total: {status} {output}")
    require(added_up(output, 2, 120), f"the total: {output}")
    program = test.folder / "failing"
    program.write_text(failing)
    program.chmod(0o755)
    status, output = with_time(lambda start: run(start, program, target, "--rate", "200", "-m", "1h"))
    require(" runs" not in output, f"one fails: {output}")
    return status, output


# --- Two hosts, which are an sshd on two addresses of the loopback.

SSHD_CONFIG = """
ListenAddress 127.0.0.2
ListenAddress 127.0.0.3
Port {port}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/key.pub
PermitRootLogin yes
StrictModes no
UsePAM no
PidFile none
"""
SSH_CONFIG = """
Port {port}
IdentityFile {folder}/key
IdentitiesOnly yes
StrictHostKeyChecking no
UserKnownHostsFile /dev/null
LogLevel ERROR
"""
# Stands in for yodel-load: stores its process id, and fails on one host.
FAILING = """#!/bin/sh
case $SSH_CONNECTION in
*127.0.0.3*) test "$1" = -V || exit 7 ;;
esac
test "$1" = -V || echo $$ >{folder}/pid
exec {load} "$@"
"""


def start_sshd(test):
    folder = test.folder
    for key in ("host_key", "key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key], check=True)
    port = free_port()
    (folder / "sshd_config").write_text(SSHD_CONFIG.format(port=port, folder=folder))
    (folder / "ssh_config").write_text(SSH_CONFIG.format(port=port, folder=folder))
    empty = pathlib.Path("/run/sshd")  # where sshd puts a process without rights
    if getpass.getuser() == "root" and not empty.exists():
        empty.mkdir()
        test.stack.callback(empty.rmdir)
    test.start(SSHD, "-D", "-e", "-f", folder / "sshd_config")
    wait_for(lambda: listens(port, "127.0.0.2") and listens(port, "127.0.0.3"), "sshd listens")


def parallel(test):
    need("parallel", "ssh", "ssh-keygen", SSHD)
    if "GNU parallel" not in subprocess.run(["parallel", "--version"], capture_output=True, text=True).stdout:
        raise Skipped("parallel is not GNU parallel")
    start_sshd(test)
    (test.folder / "hosts").write_text("# two hosts\n127.0.0.2\n127.0.0.3\n")

    def run(start, program, *arguments):
        done = test.run(test.recipes / "parallel.sh", "hosts", *arguments, START=str(start), YODEL=str(program),
                        PARALLEL_SSH=f"ssh -F {test.folder}/ssh_config", PARALLEL_HOME=str(test.folder))
        return done.returncode, done.stdout + done.stderr

    target = f"localhost:{test.start_yodeld()}"
    status, output = check_two(test, run, target, FAILING.format(folder=test.folder, load=test.load))
    require(status == 7, f"a host fails: {status} {output}")
    with contextlib.suppress(FileNotFoundError):  # ended before it could begin
        pid = int((test.folder / "pid").read_text())
        wait_for(lambda: not pathlib.Path(f"/proc/{pid}").exists(), "the other host ends")

    (test.folder / "hosts").write_text("127.0.0.2\n127.0.0.4\n")
    status, output = with_time(lambda start: run(start, test.load, target, "--rate", "200", "-m", "1h"))
    require(status == 255 and "127.0.0.4" in output and " runs" not in output, f"a host is missing: {status} {output}")


# --- A cluster of two nodes, which are processes on this machine.

SLURM_CONFIG = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdSpoolDir={folder}/spool-%n
SlurmdPidFile={folder}/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
ReturnToService=2
NodeName=one NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]}
NodeName=two NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]}
PartitionName=all Nodes=one,two Default=YES State=UP
"""


def start_slurm(test):
    config = SLURM_CONFIG.format(host=socket.gethostname().partition(".")[0], user=getpass.getuser(),
                                 folder=test.folder, ports=[free_port() for _ in range(3)])
    (test.folder / "slurm.conf").write_text(config)
    (test.folder / "cgroup.conf").touch()
    for folder in ("state", "spool-one", "spool-two"):
        (test.folder / folder).mkdir()
    os.environ["SLURM_CONF"] = str(test.folder / "slurm.conf")
    controller = test.start("slurmctld", "-D", "-i")
    nodes = [test.start("slurmd", "-D", "-N", node) for node in ("one", "two")]

    def idle():
        for daemon in (controller, *nodes):
            if daemon.poll() is not None:
                raise Skipped(f"Slurm does not start: {(test.folder / 'log').read_text()}")
        return test.run("sinfo", "--noheader", "--states=idle", "--format=%D").stdout.strip() == "2"

    wait_for(idle, "two nodes are idle")


def slurm(test):
    need("slurmctld", "slurmd", "srun", "sbatch", "sinfo")
    start_slurm(test)

    def run(start, program, *arguments):
        done = test.run("sbatch", "--wait", "--nodes=2", "--output=output", test.recipes / "slurm.sh", *arguments,
                        START=str(start), YODEL=str(program), RESULTS=str(test.recipes / "results.py"))
        return done.returncode, (test.folder / "output").read_text()

    status, output = check_two(test, run, f"localhost:{test.start_yodeld()}",
                               f'#!/bin/sh\ntest "$SLURM_PROCID" != 1 || exit 7\nexec {test.load} "$@"\n')
    require(status != 0 and "exit code 7" in output, f"a task fails: {status} {output}")


# --- Eight pods, which are processes.

KUBECTL = """#!/bin/sh
case $1 in
logs) cat pod-"$(echo "$*" | sed 's/.*job-completion-index=\\([0-9]*\\)/\\1/')" ;;
*) echo "$@" >>kubectl.log ;;
esac
"""


def check_job(test, job, container):
    spec = job["spec"]
    require(spec["completionMode"] == "Indexed" and spec["completions"] == spec["parallelism"], "not all together")
    require(spec["backoffLimit"] == 0, "a pod could run again")
    require(container["resources"]["requests"] == container["resources"]["limits"], "requests are not limits")
    statuses = set(map(int, re.findall(r"^\.It (\d+)$", test.manual.read_text("utf-8"), re.M))) - {0, 1}
    codes = [code for rule in spec["podFailurePolicy"]["rules"] for code in rule.get("onExitCodes", {}).get("values", [])]
    require(codes == sorted(statuses), f"the exit statuses differ from the manual: {codes}")
    pod = spec["template"]["spec"]
    labels = pod["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"]
    require(labels == {"job-name": job["metadata"]["name"]}, f"spread by other labels: {labels}")


def run_pods(test, container, count, port):
    """Runs the command of the pods."""
    def run(delay):
        start = test.succeed("date", "-u", "-d", f"+{delay} sec", "+%FT%TZ").stdout.strip()
        replaced = {"yodel-load": str(test.load), f"$({container['env'][0]['name']})": start,
                    "30s": "300ms", "2.5k": "100", "db.example.org:7000": f"localhost:{port}"}
        command = [replaced.pop(word, word) for word in container["command"]]
        require(not replaced, f"the command has no {replaced}")
        logs = [test.folder / f"pod-{index}" for index in range(count)]
        pods = [subprocess.Popen(command, stdout=log.open("w"), stderr=subprocess.STDOUT) for log in logs]
        return {pod.wait(LIMIT) for pod in pods}, "".join(log.read_text() for log in logs)

    statuses, _ = with_time(run)
    require(statuses == {0}, f"statuses of the pods: {statuses}")


def kubernetes(test):
    yaml = need_yaml()
    text = test.text("kubernetes.yaml")
    job = yaml.safe_load(text)
    container = job["spec"]["template"]["spec"]["containers"][0]
    check_job(test, job, container)

    port = test.start_yodeld()
    setting = container["env"][0]["valueFrom"]["configMapKeyRef"]
    require(f"create configmap {setting['name']} --from-literal={setting['key']}=" in text, "another configmap is made")
    run_pods(test, container, job["spec"]["completions"], port)

    stub = test.folder / "kubectl"
    stub.write_text(KUBECTL)
    stub.chmod(0o755)
    (test.folder / "results.py").symlink_to(test.recipes / "results.py")
    commands = "\n".join(line[6:] for line in text.splitlines() if line.startswith("#     "))
    commands = commands.replace("p99<5ms,lost=0", "p99<5s,lost=0")
    done = test.succeed("bash", "-euc", commands[commands.index("kubectl wait"):],
                        PATH=f"{test.folder}:{os.environ['PATH']}")
    require(added_up(done.stdout, 8, 8 * 30), f"the total of the pods: {done}")


# --- An image. tests/package/check_container builds it on a bare system.

def container(test):
    found = [line.split(None, 1) for line in test.text("Containerfile").splitlines()
             if line and not line.startswith("#")]
    require({name for name, _ in found} <= {"FROM", "RUN", "COPY", "ENV", "USER"}, f"unknown: {found}")
    stages = [rest for name, rest in found if name == "FROM"]
    require(len(stages) == 2 and stages[0].endswith(" AS build") and stages[1] == "scratch", f"stages: {stages}")
    users = [rest for name, rest in found if name == "USER"]
    require(users and not users[-1].startswith(("0", "root")), f"the programs run as root: {users}")
    copied = [shlex.split(rest) for name, rest in found if name == "COPY"]
    programs = {f"/src/build/static/{program.name}" for program in (test.yodel, test.load, test.yodeld)}
    require(any(programs <= set(words) and words[-1] == "/usr/bin/" for words in copied),
            f"other programs are copied: {copied}")


# --- CI systems.

def run_steps(test, scripts, port_of):
    """Runs a pipeline on a service. The run ends after 100 messages: a time could pass before its first retry."""
    environment = {"RELEASE": test.release(), "YODEL": "bin/yodel-load"}
    for script in scripts:
        script = re.sub(r"\bredis:6379\b", "localhost:6379", script).replace("-m 30s", "-c 100")
        script = re.sub(r"\b(7000|6379)\b", lambda found: str(port_of(found.group())), script)
        script = script.replace("p99<50ms", "p99<5s")
        if script.endswith("&"):
            test.succeed("bash", "-ec", script + " echo $! >server", **environment)
            wait_for(lambda: listens(port_of("7000")), "the server listens")
        else:
            test.succeed("bash", "-ec", script, **environment)
    server = test.folder / "server"
    if server.exists():
        os.kill(int(server.read_text()), 15)
    runs = [line for line in (test.folder / "run.json").read_text().splitlines() if '"type":"end"' in line]
    require(len(runs) == 1 and '"echoed":100,' in runs[0], f"runs: {runs}")
    report = (test.folder / "yodel.xml").read_text()
    require("<testcase" in report and "<failure" not in report, f"JUnit: {report}")


def github(test):
    yaml = need_yaml()
    need("curl")
    steps = yaml.safe_load(test.text("github.yml"))["jobs"]["echo"]["steps"]
    port = free_port()
    run_steps(test, [step["run"] for step in steps if "run" in step], lambda _: port)


def gitlab(test):
    yaml = need_yaml()
    need("curl", "redis-server")
    job = yaml.safe_load(test.text("gitlab.yml"))["redis"]
    require(job["services"] == ["redis:7"], "another service")
    port = free_port()
    test.start("redis-server", "--port", str(port), "--save", "", "--bind", "127.0.0.1")
    wait_for(lambda: listens(port), "redis-server listens")
    run_steps(test, job["script"] + job["after_script"], lambda _: port)


def main():
    name = sys.argv[1]
    test = Test(*(pathlib.Path(path).resolve() for path in sys.argv[2:]))
    with test.stack:
        try:
            {each.__name__: each for each in (parallel, slurm, kubernetes, container, github, gitlab)}[name](test)
        except Failed as failure:
            print(f"{name}: {failure}")
            return 1
        except Skipped as reason:
            with open(os.environ.get("SKIPPED", os.devnull), "a", encoding="utf-8") as skipped:
                print(f"e2e_recipe_{name}: {reason}", file=skipped)
            return SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main())
