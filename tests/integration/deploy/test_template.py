"""Workers that are forked from one process are processes of their own, and start without it, too."""

import json
import subprocess
import sys

from tests.support.stack import clean_environment

_PROGRAM = """
import json, os, signal, socket, sys, time
from deploy.child import Child
from deploy.template import Template, reap
from events.platform.settings import Settings

template = Template(Settings(embed_model="hash"))
listener = socket.create_server(("127.0.0.1", 0))
def ended(arguments, listener=None):
    child = Child("poet", arguments, dict(os.environ), listener, template)
    child.start()
    kept = type(child._process).__name__
    own = os.path.exists(f"/proc/{child.pid}") and int(open(f"/proc/{child.pid}/stat").read().split()[3]) == os.getpid()
    assert child.wait(240)
    return kept, own, child._process.returncode, child.tail
forked = ended(["work", "poet"])
listening = ended(["serve", "read"], listener)
hung = Child("hung", ["work", "recorder", "--help"], dict(os.environ), None, template)
hung.start()
os.kill(hung.pid, signal.SIGSTOP)
late = hung.wait(0.1)
os.kill(hung.pid, signal.SIGCONT)
assert not late and hung.wait(240), "a process that still runs is no ended one"
lives = Child("doctor", ["work", "recorder", "--help"], dict(os.environ), None, template)
lives.start()
os.kill(template.pid, signal.SIGKILL)
os.waitpid(template.pid, 0)
assert lives.wait(240)
def orphan():
    reading, writing = os.pipe()
    if not (between := os.fork()):
        if pid := os.fork():
            os.write(writing, str(pid).encode())
        os._exit(0)
    os.waitpid(between, 0)
    pid = int(os.read(reading, 20))
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    return pid
known = orphan()
reap({known})
waited = os.waitpid(known, 0) == (known, 0)
orphan(), orphan()
reap({known})
try:
    left = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG)
except ChildProcessError:
    left = None
print(json.dumps([forked, listening, lives.tail, waited, left, ended(["work", "poet"])]))
"""


def test_a_forked_worker_has_its_own_status_output_and_socket_and_outlives_the_process_that_forked_it() -> (
    None
):
    ran = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        capture_output=True,
        text=True,
        env=clean_environment(),
        timeout=240,
    )
    assert ran.returncode == 0, ran.stderr
    forked, listening, lives, waited, left, alone = json.loads(ran.stdout)
    kind, own, status, said = forked
    assert (kind, own, status) == ("Forked", True, 2)
    assert "must be one of recorder, extractor" in said
    assert listening[2] == 2
    assert "CARDLOG_DATABASE_URL is not set" in listening[3]
    assert "Run one worker" in lives
    assert (waited, left) == (
        True,
        None,
    )  # the status of a known process stays, and that of an orphan is taken
    kind, _, status, said = alone
    assert (kind, status) == ("Popen", 2)
    assert "must be one of recorder, extractor" in said
