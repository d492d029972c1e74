"""The half of the Blender adapter that runs inside Blender.

It answers requests on descriptor 3, one JSON object a line, with a fixed table of
operations on the main thread. It takes no code, draws no random numbers and reads no
file but those that a request names, which its starter has checked. Every operation that
changes the scene leaves an inverse behind, so that a transaction can be taken back.
"""
import base64
import ctypes
import hashlib
import json
import os
import queue
import socket
import sys
import threading

import bmesh
import bpy
import numpy as np

SCENE = "Loregate"


class Refused(Exception):
    """An operation that cannot be done; its text is for the caller."""


class Cancelled(BaseException):
    """Raised in the main thread by the reader, when a request is called off."""


class Session:
    def __init__(self, channel):
        self.channel = channel
        self.requests = queue.Queue()
        self.cancelled = -1
        self.current = -1
        self.main = threading.get_ident()
        self.undo = []

    def send(self, message):
        self.channel.sendall(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    def read(self):
        """Runs on a thread of its own, and never touches bpy."""
        with self.channel.makefile("rb") as lines:
            for line in lines:
                message = json.loads(line)
                if "cancel" in message:
                    self.cancel(message["cancel"])
                else:
                    self.requests.put(message)
        os._exit(0)  # the starter is gone

    def cancel(self, request):
        self.cancelled = max(self.cancelled, request)
        if self.current == request:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(self.main), ctypes.py_object(Cancelled))

    def serve(self):
        threading.Thread(target=self.read, daemon=True).start()
        while True:
            try:
                self.answer(self.requests.get())
            except Cancelled:  # raised after the last check of a request
                continue

    def answer(self, request):
        number, at, results = request["id"], 0, []
        self.current = number
        try:
            for at, op in enumerate(request["ops"]):
                if self.cancelled >= number:
                    raise Cancelled()
                act = TABLE.get(op.get("op"))
                if act is None:
                    raise Refused("unknown operation %r" % op.get("op"))
                results.append(act(self, **{k: v for k, v in op.items() if k != "op"}))
            reply = {"id": number, "ok": True, "results": results}
        except Cancelled:
            reply = {"id": number, "ok": False, "at": at, "code": "CANCELLED", "error": "called off"}
        except Refused as e:
            reply = {"id": number, "ok": False, "at": at, "code": "REFUSED", "error": str(e)}
        except Exception as e:
            reply = {"id": number, "ok": False, "at": at, "code": "FAILED",
                     "error": "%s: %s" % (type(e).__name__, str(e)[:400])}
        self.current = -1
        self.send(reply)


# --- what a scene is made of ---------------------------------------------------------


def fresh(blocks, name):
    if name in blocks:
        raise Refused("the name %r is taken" % name)
    return name


def known(blocks, name, what):
    block = blocks.get(name)
    if block is None:
        raise Refused("there is no %s %r" % (what, name))
    return block


class Made:
    """The inverse of making data: it is taken away, many at once, for each removal by itself
    goes over all there is."""

    def __init__(self, blocks, names):
        self.blocks, self.names = blocks, names

    def __call__(self):
        return [self.blocks[name] for name in self.names]


def forget(blocks, name):
    return Made(blocks, [name])


def collection(session, name):
    if not name:
        return bpy.context.scene.collection
    found = bpy.data.collections.get(name)
    if found is None:
        found = bpy.data.collections.new(name)
        bpy.context.scene.collection.children.link(found)
        session.undo.append(forget(bpy.data.collections, name))
    return found


def place(session, thing, into, location=(0, 0, 0), rotation=(0, 0, 0), scale=(1, 1, 1)):
    thing.location, thing.rotation_euler, thing.scale = location, rotation, scale
    collection(session, into).objects.link(thing)


def new_object(session, name, data, into, transform):
    fresh(bpy.data.objects, name)
    thing = bpy.data.objects.new(name, data)
    session.undo.append(forget(bpy.data.objects, name))
    place(session, thing, into, **transform)
    return thing


def transform_of(op):
    return {k: op[k] for k in ("location", "rotation", "scale") if k in op}


def packed(data, file):
    if file:
        with open(file, "rb") as f:
            return f.read()
    return base64.b64decode(data)


UV, MATERIALS, SMOOTH = 1, 2, 4


def op_mesh(session, name, data="", file="", materials=()):
    """A mesh as its vertices, loops and faces; the format is written out in mesh.go."""
    raw = packed(data, file)
    verts, loops, faces, flags = np.frombuffer(raw, "<u4", 4)
    at = 16

    def take(kind, count):
        nonlocal at
        part = np.frombuffer(raw, kind, int(count), at)
        at += part.nbytes
        return part

    co, index, sizes = take("<f4", 3 * verts), take("<i4", loops), take("<i4", faces)
    mesh = bpy.data.meshes.new(fresh(bpy.data.meshes, name))
    session.undo.append(forget(bpy.data.meshes, name))
    mesh.vertices.add(int(verts))
    mesh.vertices.foreach_set("co", co)
    mesh.loops.add(int(loops))
    mesh.loops.foreach_set("vertex_index", index)
    mesh.polygons.add(int(faces))
    starts = np.zeros(int(faces), "<i4")
    np.cumsum(sizes[:-1], out=starts[1:])
    mesh.polygons.foreach_set("loop_start", starts)
    mesh.polygons.foreach_set("loop_total", sizes)
    for material in materials:
        mesh.materials.append(known(bpy.data.materials, material, "material"))
    if flags & UV:
        uv = take("<f4", 2 * loops)
        mesh.uv_layers.new(name="UVMap").data.foreach_set("uv", uv)
    if flags & MATERIALS:
        mesh.polygons.foreach_set("material_index", take("<i4", faces))
    if flags & SMOOTH:
        mesh.polygons.foreach_set("use_smooth", take("<i4", faces))
    mesh.update(calc_edges=True)
    if mesh.validate():
        raise Refused("mesh %r is not sound" % name)


def op_object(session, name, mesh="", into="", **op):
    data = known(bpy.data.meshes, mesh, "mesh") if mesh else None
    new_object(session, name, data, into, transform_of(op))


def op_instances(session, prefix, mesh, count, data="", file="", into=""):
    """Many objects of one mesh: nine numbers each, of location, rotation and scale."""
    rows = np.frombuffer(packed(data, file), "<f4").reshape(int(count), 9).tolist()
    shared = bpy.data.meshes.get(mesh)
    if shared is None:
        shared = known(bpy.data.objects, mesh, "mesh or object").data
    if any(o.startswith(prefix + ".") for o in bpy.data.objects.keys()):
        raise Refused("the name %r is taken" % prefix)
    made = []
    session.undo.append(Made(bpy.data.objects, made))
    home = collection(session, into).objects
    for i, r in enumerate(rows):
        thing = bpy.data.objects.new("%s.%05d" % (prefix, i + 1), shared)
        made.append(thing.name)
        thing.location, thing.rotation_euler, thing.scale = r[0:3], r[3:6], r[6:9]
        home.link(thing)


def op_text(session, name, body, size=1.0, extrude=0.02, material="", into="", **op):
    curve = bpy.data.curves.new(fresh(bpy.data.curves, name), "FONT")
    session.undo.append(forget(bpy.data.curves, name))
    curve.body, curve.size, curve.extrude = body, size, extrude
    curve.align_x, curve.align_y, curve.resolution_u = "CENTER", "CENTER", 3
    if material:
        curve.materials.append(known(bpy.data.materials, material, "material"))
    new_object(session, name, curve, into, transform_of(op))


def op_light(session, name, kind, energy, color=(1, 1, 1), size=0.1, into="", **op):
    lamp = bpy.data.lights.new(fresh(bpy.data.lights, name), kind)
    session.undo.append(forget(bpy.data.lights, name))
    lamp.energy, lamp.color = energy, color
    if kind == "SUN":
        lamp.angle = size
    elif kind == "AREA":
        lamp.size = size
    else:
        lamp.shadow_soft_size = size
    new_object(session, name, lamp, into, transform_of(op))


def op_camera(session, name, lens=35.0, into="", main=False, **op):
    camera = bpy.data.cameras.new(fresh(bpy.data.cameras, name))
    session.undo.append(forget(bpy.data.cameras, name))
    camera.lens, camera.clip_end = lens, 9000
    thing = new_object(session, name, camera, into, transform_of(op))
    if main or bpy.context.scene.camera is None:
        before = bpy.context.scene.camera.name if bpy.context.scene.camera else None

        def back():
            bpy.context.scene.camera = bpy.data.objects.get(before) if before else None

        session.undo.append(back)
        bpy.context.scene.camera = thing


def op_image(session, name, file, sha256, linear=False):
    image = bpy.data.images.load(file)
    image.name = fresh(bpy.data.images, name)
    session.undo.append(forget(bpy.data.images, name))
    image.colorspace_settings.name = "Non-Color" if linear else "sRGB"
    image.pack()
    image.filepath = "//" + name.replace(" ", "_") + ".png"  # no path of this machine
    image["sha256"] = sha256


def op_material(session, name, color=(0.8, 0.8, 0.8, 1), roughness=0.8, metallic=0.0,
                emission=None, strength=0.0, transmission=0.0, image="", normal="", bump=1.0, rough=""):
    material = bpy.data.materials.new(fresh(bpy.data.materials, name))
    session.undo.append(forget(bpy.data.materials, name))
    material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    shader = nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = color
    shader.inputs["Roughness"].default_value = roughness
    shader.inputs["Metallic"].default_value = metallic
    shader.inputs["Transmission"].default_value = transmission
    if emission:
        shader.inputs["Emission"].default_value = list(emission) + [1]
        shader.inputs["Emission Strength"].default_value = strength
    if image:
        picture = nodes.new("ShaderNodeTexImage")
        picture.image = known(bpy.data.images, image, "image")
        links.new(picture.outputs["Color"], shader.inputs["Base Color"])
    if normal:
        picture = nodes.new("ShaderNodeTexImage")
        picture.image = known(bpy.data.images, normal, "image")
        turn = nodes.new("ShaderNodeNormalMap")
        turn.inputs["Strength"].default_value = bump
        links.new(picture.outputs["Color"], turn.inputs["Color"])
        links.new(turn.outputs["Normal"], shader.inputs["Normal"])
    if rough:
        picture = nodes.new("ShaderNodeTexImage")
        picture.image = known(bpy.data.images, rough, "image")
        channels, product = nodes.new("ShaderNodeSeparateColor"), nodes.new("ShaderNodeMath")
        product.operation, product.inputs[1].default_value = "MULTIPLY", roughness
        links.new(picture.outputs["Color"], channels.inputs[0])
        links.new(channels.outputs[1], product.inputs[0])
        links.new(product.outputs[0], shader.inputs["Roughness"])
    material["spec"] = json.dumps([color, roughness, metallic, emission, strength, transmission, image, normal, bump, rough])


def op_import(session, name, file):
    """A glTF file as a part: its objects below an empty with the name, in a collection of that name."""
    fresh(bpy.data.objects, name), fresh(bpy.data.collections, name)
    kinds = (bpy.data.objects, bpy.data.collections, bpy.data.meshes, bpy.data.materials, bpy.data.images,
             bpy.data.lights, bpy.data.cameras, bpy.data.node_groups)
    before = [set(blocks.keys()) for blocks in kinds]
    camera = bpy.context.scene.camera
    bpy.ops.import_scene.gltf(filepath=file, import_pack_images=True)
    bpy.context.scene.camera = camera
    home = bpy.data.collections.new(name)
    bpy.context.scene.collection.children.link(home)
    root = bpy.data.objects.new(name, None)
    home.objects.link(root)
    made = [o for o in bpy.data.objects if o.name not in before[0] and o is not root]
    for thing in made:
        for old in list(thing.users_collection):
            old.objects.unlink(thing)
        home.objects.link(thing)
        if thing.parent is None:
            thing.parent = root
    for blocks, old in zip(kinds, before):
        names = [n for n in blocks.keys() if n not in old]
        for old_name in names:
            if blocks in (bpy.data.objects, bpy.data.materials) and old_name != name:
                blocks[old_name].name = (name + " " + old_name)[:55]
    for blocks, old in zip(kinds, before):
        session.undo.append(Made(blocks, [n for n in blocks.keys() if n not in old]))
    bpy.context.view_layer.update()


def op_assign(session, object, material):
    """Gives an object a material of its own, whatever its mesh has."""
    thing = known(bpy.data.objects, object, "object")
    if thing.type not in {"MESH", "FONT"}:
        raise Refused("%r is no mesh" % object)
    wanted = known(bpy.data.materials, material, "material")
    added = not thing.material_slots
    if added:
        thing.data.materials.append(None)
    slot = thing.material_slots[0]
    link, before = slot.link, slot.material.name if slot.material else None
    slot.link = "OBJECT"
    own = slot.material.name if slot.material else None

    def back():
        slot = bpy.data.objects[object].material_slots[0]
        slot.link = "OBJECT"
        slot.material = bpy.data.materials.get(own) if own else None
        slot.link = link
        if link == "DATA":
            slot.material = bpy.data.materials.get(before) if before else None
        if added:
            bpy.data.objects[object].data.materials.clear()

    session.undo.append(back)
    slot.material = wanted


def op_sky(session, elevation=0.6, rotation=0.0, strength=1.0, color=None, ozone=1.0, dust=1.0,
           clouds=0.0, haze=0.0, pale=(0.6, 0.68, 0.75), exposure=0.0):
    """The light of the sky: a colour, or a sun over air at an elevation in radians; with clouds. Haze
    and exposure are for pictures."""
    scene = bpy.context.scene
    before = scene.world.name if scene.world else None
    name = "Sky %d" % len(bpy.data.worlds)
    world = bpy.data.worlds.new(fresh(bpy.data.worlds, name))

    def back():
        scene.world = bpy.data.worlds.get(before) if before else None
        bpy.data.worlds.remove(bpy.data.worlds[name])

    session.undo.append(back)
    world.use_nodes = True
    background = world.node_tree.nodes["Background"]
    background.inputs["Strength"].default_value = strength
    if color:
        background.inputs["Color"].default_value = list(color) + [1]
    else:
        air = world.node_tree.nodes.new("ShaderNodeTexSky")
        air.sky_type = "NISHITA"
        air.sun_elevation, air.sun_rotation, air.sun_disc = elevation, rotation, False
        air.ozone_density, air.dust_density = ozone, dust
        world.node_tree.links.new(air.outputs["Color"], background.inputs["Color"])
    spec = [elevation, rotation, strength, color, ozone, dust]
    if clouds:
        add_clouds(world.node_tree, clouds, pale, strength)
    if clouds or haze or exposure:
        spec += [clouds, haze, list(pale), exposure]
    world["haze"], world["pale"], world["exposure"] = haze, list(pale), exposure
    world["spec"] = json.dumps(spec)
    scene.world = world


def add_clouds(tree, share, pale, strength):
    """Clouds: noise on a plane far above, paler than the sky."""
    nodes, links = tree.nodes, tree.links
    background = nodes["Background"]

    def math_node(operation, a, b):
        node = nodes.new("ShaderNodeMath")
        node.operation = operation
        for socket, value in zip(node.inputs, (a, b)):
            if isinstance(value, (int, float)):
                socket.default_value = value
            else:
                links.new(value, socket)
        return node.outputs[0]

    where = nodes.new("ShaderNodeSeparateXYZ")
    links.new(nodes.new("ShaderNodeTexCoord").outputs["Generated"], where.inputs[0])
    up = math_node("MAXIMUM", where.outputs[2], 0.0)
    flat = nodes.new("ShaderNodeCombineXYZ")
    for axis in (0, 1):
        links.new(math_node("DIVIDE", where.outputs[axis], math_node("ADD", up, 0.14)), flat.inputs[axis])
    noise = nodes.new("ShaderNodeTexNoise")
    noise.inputs["Scale"].default_value, noise.inputs["Detail"].default_value = 1.35, 7
    noise.inputs["Roughness"].default_value, noise.inputs["Distortion"].default_value = 0.56, 0.25
    links.new(flat.outputs[0], noise.inputs["Vector"])
    edge = nodes.new("ShaderNodeMapRange")
    edge.interpolation_type = "SMOOTHSTEP"
    links.new(noise.outputs["Fac"], edge.inputs["Value"])
    edge.inputs["From Min"].default_value = 0.66 - 0.3 * share
    edge.inputs["From Max"].default_value = 0.86 - 0.3 * share
    fade = math_node("MULTIPLY", edge.outputs[0], math_node("MINIMUM", math_node("MULTIPLY", up, 9.0), 0.9))
    mix = nodes.new("ShaderNodeMixRGB")
    links.new(fade, mix.inputs["Fac"])
    before = background.inputs["Color"]
    if before.is_linked:
        links.new(before.links[0].from_socket, mix.inputs["Color1"])
    else:
        mix.inputs["Color1"].default_value = before.default_value
    bright = 1.25 / max(strength, 0.05) if before.is_linked else 1.3
    mix.inputs["Color2"].default_value = [c * bright for c in pale] + [1]
    links.new(mix.outputs[0], before)


def op_remove(session, prefix):
    """Takes objects out of the scene whose collection is named; kept until the transaction ends."""
    found = bpy.data.collections.get(prefix)
    if found is None:
        raise Refused("there is no collection %r" % prefix)
    names = [(o.name, [c.name for c in o.users_collection]) for o in found.objects]
    for name, _ in names:
        o = bpy.data.objects[name]
        for c in o.users_collection:
            c.objects.unlink(o)

    def back():
        for name, homes in names:
            for home in homes:
                bpy.data.collections[home].objects.link(bpy.data.objects[name])

    session.undo.append(back)


# --- looking --------------------------------------------------------------------------


def rounded(values):
    return [round(float(v), 5) + 0.0 for v in values]


def mesh_digest(mesh):
    h = hashlib.sha256()
    for block, field, width, kind in (
            (mesh.vertices, "co", 3, "f4"), (mesh.loops, "vertex_index", 1, "i4"),
            (mesh.polygons, "loop_total", 1, "i4"), (mesh.polygons, "material_index", 1, "i4"),
            (mesh.polygons, "use_smooth", 1, "?")):
        row = np.zeros(len(block) * width, kind)
        block.foreach_get(field, row)
        h.update(row.tobytes())
    for layer in mesh.uv_layers:
        row = np.zeros(len(layer.data) * 2, "f4")
        layer.data.foreach_get("uv", row)
        h.update(row.tobytes())
    return [h.hexdigest(), [m.name if m else None for m in mesh.materials]]


def data_digest(thing):
    data = thing.data
    if thing.type == "LIGHT":
        return [data.name, data.type, rounded([data.energy, *data.color])]
    if thing.type == "CAMERA":
        return [data.name, rounded([data.lens])]
    if thing.type == "FONT":
        return [data.name, data.body, rounded([data.size, data.extrude]), [m.name if m else None for m in data.materials]]
    return data.name if data else None


def homes_of(scene):
    """The collections of each object; an object asked for its own goes over all of them."""
    homes = {}
    for home in [scene.collection, *bpy.data.collections]:
        for name in home.objects.keys():
            homes.setdefault(name, []).append(home.name)
    return homes


def triples(things, field):
    row = np.zeros(len(things) * 3, "f4")
    things.foreach_get(field, row)
    return (np.array([round(v, 5) for v in row.tolist()]) + 0.0).reshape(-1, 3).tolist()


def op_digest(session):
    """A hash of all that the scene is, the same for the same scene in every process."""
    scene = bpy.context.scene
    homes = homes_of(scene)
    where = zip(*(triples(scene.objects, field) for field in ("location", "rotation_euler", "scale")))
    state = {
        "objects": sorted([o.name, o.type, data_digest(o), *at, sorted(homes[o.name]),
                           [[s.link, s.material.name if s.material else None] for s in o.material_slots]]
                          for o, at in zip(scene.objects, where)),
        "meshes": sorted([m.name, *mesh_digest(m)] for m in bpy.data.meshes),
        "materials": sorted([m.name, m.get("spec", "")] for m in bpy.data.materials),
        "images": sorted([i.name, i.get("sha256", "")] for i in bpy.data.images if i.name != "Render Result"),
        "collections": sorted(c.name for c in bpy.data.collections),
        "camera": scene.camera.name if scene.camera else None,
        "world": scene.world.get("spec", "") if scene.world else None,
    }
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()


def op_list(session):
    return sorted([o.name, o.type, o.users_collection[0].name if o.users_collection else "", rounded(o.location),
                   rounded(o.dimensions), o.active_material.name if o.active_material else ""]
                  for o in bpy.context.scene.objects)


def op_names(session):
    return sorted(o.name for o in bpy.context.scene.objects)


def op_counts(session):
    """What the scene would be in glTF: objects, meshes in use, triangles, materials in use."""
    objects = list(bpy.context.scene.objects)
    triangles = {m.name: len(m.loops) - 2 * len(m.polygons) for m in bpy.data.meshes}  # each face has two fewer than corners
    return {"objects": len(objects), "collections": len(bpy.data.collections), "meshes": len(triangles),
            "triangles": sum(triangles[o.data.name] for o in objects if o.type == "MESH"),
            "materials": len(bpy.data.materials)}


# --- transactions and files -----------------------------------------------------------


def op_begin(session):
    session.undo = []


def op_rollback(session):
    gone = []
    while session.undo:
        back = session.undo.pop()
        if isinstance(back, Made):
            gone += back()
            continue
        bpy.data.batch_remove(gone)
        gone = []
        back()
    bpy.data.batch_remove(gone)
    bpy.context.view_layer.update()


def op_commit(session):
    session.undo = []


def op_new(session):
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    scene.name = SCENE
    for world in list(bpy.data.worlds):
        bpy.data.worlds.remove(world)
    scene.unit_settings.system, scene.unit_settings.scale_length = "METRIC", 1.0
    session.undo = []


def op_open(session, file):
    bpy.ops.wm.open_mainfile(filepath=file, load_ui=False, use_scripts=False)
    session.undo = []


def op_save(session, file):
    bpy.ops.wm.save_as_mainfile(filepath=file, copy=True, check_existing=False, compress=True)


def op_info(session):
    options = bpy.app.build_options
    return {"version": bpy.app.version_string, "pid": os.getpid(),
            "options": {k: bool(getattr(options, k)) for k in ("cycles", "alembic", "usd", "openimagedenoise") if hasattr(options, k)}}


def op_ping(session):
    return "pong"


def select(names):
    for o in bpy.context.scene.objects:
        o.select_set(not names or o.name in names)


class SplitFaces:
    """Shows triangles in place of faces with more than four corners while a file is written: Blender
    computes tangents for triangles and quads only."""

    def __enter__(self):
        users, self.swapped = {}, []
        for thing in bpy.data.objects:
            if thing.type == "MESH":
                users.setdefault(thing.data.name, []).append(thing)
        for name in sorted(users):
            mesh = bpy.data.meshes[name]
            sizes = np.zeros(len(mesh.polygons), "i4")
            mesh.polygons.foreach_get("loop_total", sizes)
            if not (sizes > 4).any():
                continue
            copy = mesh.copy()
            self.swapped.append((name, mesh, copy, users[name]))
            shape = bmesh.new()
            shape.from_mesh(mesh)
            bmesh.ops.triangulate(shape, faces=[f for f in shape.faces if len(f.verts) > 4])
            shape.to_mesh(copy)
            shape.free()
            mesh.name = "~%d" % len(self.swapped)
            copy.name = name
            for thing in users[name]:
                thing.data = copy

    def __exit__(self, *_):
        for name, mesh, copy, things in self.swapped:
            for thing in things:
                thing.data = mesh
        bpy.data.batch_remove([copy for _, _, copy, _ in self.swapped])
        for name, mesh, _, _ in self.swapped:
            mesh.name = name


def op_export(session, format, file, names=(), textures=True):
    names = names or ()
    for name in names:
        known(bpy.context.scene.objects, name, "object")
    bpy.context.view_layer.update()
    select(set(names))
    if format in ("glb", "gltf"):
        with SplitFaces():
            bpy.ops.export_scene.gltf(
                filepath=file, export_format="GLB" if format == "glb" else "GLTF_SEPARATE", use_selection=True,
                export_yup=True, export_apply=False, export_tangents=True, export_cameras=True, export_lights=True,
                export_extras=False, export_animations=False, export_image_format="AUTO" if textures else "NONE")
    elif format == "obj":
        bpy.ops.wm.obj_export(filepath=file, export_selected_objects=True, export_materials=True, path_mode="STRIP",
                              forward_axis="NEGATIVE_Z", up_axis="Y")
    elif format == "fbx":
        steady_fbx()
        bpy.ops.export_scene.fbx(filepath=file, use_selection=True, object_types={"EMPTY", "MESH", "OTHER"}, bake_anim=False,
                                 axis_forward="-Z", axis_up="Y", path_mode="COPY" if textures else "STRIP", embed_textures=textures, add_leaf_bones=False)
    else:
        raise Refused("format %r is not one that is exported" % format)


def steady_fbx():
    """The FBX exporter writes the time of day and the paths of this machine into its files;
    here it is always the same time, and pictures go by their names."""
    import datetime
    from io_scene_fbx import export_fbx_bin

    class Still(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return cls(2000, 1, 1, tzinfo=tz)

    module = type(sys)("datetime")
    module.datetime, module.timezone, module.timedelta = Still, datetime.timezone, datetime.timedelta
    export_fbx_bin.datetime = module

    def names_alone(image, _):
        name = os.path.basename(image.filepath)
        return name, name

    export_fbx_bin._gen_vid_path = names_alone


TABLE = {name[3:]: act for name, act in list(globals().items()) if name.startswith("op_")}


def main():
    np.bool = bool  # the glTF add-on asks for the old name
    channel = socket.socket(fileno=3)
    session = Session(channel)
    op_new(session)
    session.send({"id": 0, "ok": True, "results": [op_info(session)]})
    session.serve()


main()
