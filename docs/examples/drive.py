"""Drives lathe from Python: sends a prompt, answers questions, prints the result."""
import json, subprocess, sys

command = ["lathe", "-p", "--input-format", "stream-json", "-o", "stream-json"]
lathe = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

def send(message):
    print(json.dumps(message), file=lathe.stdin, flush=True)

send({"type": "control_request", "request_id": "1", "request": {"subtype": "initialize"}})
send({"type": "user", "message": {"role": "user", "content": sys.argv[1]}})
for line in lathe.stdout:
    message = json.loads(line)
    if message["type"] == "control_request":  # A call needs approval. This driver allows only edits.
        is_edit = message["request"]["tool_name"] in ("edit", "write_file")
        answer = {"behavior": "allow"} if is_edit else {"behavior": "deny", "message": "Only edits."}
        send({"type": "control_response", "response": {
            "subtype": "success", "request_id": message["request_id"], "response": answer}})
    if message["type"] == "result":
        print(message["result"])
        lathe.stdin.close()
sys.exit(lathe.wait())
