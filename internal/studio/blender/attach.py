# The add-on of an open Blender: it listens on this machine only, for one connection that knows the secret,
# and does a fixed table of operations on the main thread. The first part of this file is the driver.
import hmac
import tempfile

bl_info = {"name": "Loregate", "author": "Loregate", "version": (1, 0, 0), "blender": (3, 4, 0), "category": "Scene",
           "description": "Builds designed scenes into the open file, as a collection"}

OFFERED = ("mesh", "object", "instances", "text", "light", "camera", "image", "material", "assign", "list", "names",
           "counts", "selection", "picture")
LONGEST = 256 << 20  # bytes of a request


def op_selection(session):
    return [[o.name, o.type, rounded(o.location), rounded(o.dimensions)] for o in bpy.context.selected_objects]


def op_picture(session):
    """The window as a PNG."""
    windows = [] if bpy.app.background else bpy.context.window_manager.windows
    if not windows:
        raise Refused("there is no window to take a picture of")
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "window.png")
        with bpy.context.temp_override(window=windows[0]):
            bpy.ops.screen.screenshot(filepath=file)
        with open(file, "rb") as f:
            return base64.b64encode(f.read()).decode()


class Attachment:
    def __init__(self):
        self.session = Session(None)
        self.requests = queue.Queue()
        self.table = {name: globals()["op_" + name] for name in OFFERED}
        self.ended = False
        self.listener = socket.create_server(("127.0.0.1", PORT))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        """Runs on a thread of its own, and never touches bpy."""
        while not self.ended:
            channel, _ = self.listener.accept()
            with channel, channel.makefile("rb") as lines:
                channel.settimeout(10)
                try:
                    given = lines.readline(200).strip()
                    if not hmac.compare_digest(hashlib.sha256(given).hexdigest(), SECRET):
                        channel.sendall(b'{"ok":false,"code":"REFUSED","error":"the secret is wrong"}\n')
                        continue
                    self.ended = True  # the secret works once
                    channel.settimeout(None)
                    channel.sendall(b'{"ok":true}\n')
                    self.talk(channel, lines)
                except OSError:
                    continue
        self.listener.close()

    def talk(self, channel, lines):
        while True:
            line = lines.readline(LONGEST)
            if not line.endswith(b"\n"):
                return
            done = queue.Queue()
            self.requests.put((line, done))
            channel.sendall(json.dumps(done.get(), separators=(",", ":")).encode() + b"\n")

    def pump(self):
        """Does a request that waits; Blender calls it on its main thread."""
        try:
            line, done = self.requests.get_nowait()
        except queue.Empty:
            return 0.1
        done.put(self.answer(line))
        return 0.0

    def answer(self, line):
        at, results = 0, []
        op_begin(self.session)
        try:
            ops = json.loads(line)["ops"]
            for at, op in enumerate(ops):
                if op.get("op") not in self.table:
                    raise Refused("unknown operation %r" % op.get("op"))
            for at, op in enumerate(ops):
                results.append(self.table[op["op"]](self.session, **{k: v for k, v in op.items() if k != "op"}))
        except Exception as e:
            op_rollback(self.session)
            code = "REFUSED" if isinstance(e, Refused) else "FAILED"
            return {"ok": False, "at": at, "code": code, "error": str(e)[:400]}
        if self.session.undo:
            bpy.context.view_layer.update()
            if not bpy.app.background:
                bpy.ops.ed.undo_push(message="Loregate")  # one step of Blender's own undo
        self.session.undo = []
        return {"ok": True, "results": results}


def register():
    attachment = Attachment()
    if bpy.app.background:  # timers never fire there
        import time
        print("Loregate listens", flush=True)
        while not (attachment.ended and attachment.listener.fileno() < 0):
            time.sleep(attachment.pump())
    else:
        bpy.app.timers.register(attachment.pump, persistent=True)


def unregister():
    pass  # the connection ends with Blender


if __name__ == "__main__":
    register()
