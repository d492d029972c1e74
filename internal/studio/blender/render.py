"""Renders one picture of a saved scene, in a process that is thrown away afterwards."""
import json
import sys

import bpy

job = json.loads(sys.argv[sys.argv.index("--") + 1])
bpy.ops.wm.open_mainfile(filepath=job["scene"], load_ui=False, use_scripts=False)
scene = bpy.context.scene
if job["camera"]:
    scene.camera = scene.objects[job["camera"]]
render = scene.render
render.engine = "CYCLES"
render.resolution_x, render.resolution_y, render.resolution_percentage = job["width"], job["height"], 100
render.filepath = job["file"]
render.image_settings.file_format, render.image_settings.color_mode = "PNG", "RGB"
render.image_settings.compression = 30
render.use_stamp, render.use_file_extension, render.threads_mode = False, False, "FIXED"
render.threads = job["threads"]
scene.view_settings.view_transform, scene.view_settings.look = "Filmic", "Medium High Contrast"
world = scene.world
scene.view_settings.exposure = world.get("exposure", 0.0) if world else 0.0
haze = world.get("haze", 0.0) if world else 0.0
if haze > 0:
    # Things pale with their distance; the sky, which is infinitely far, does not.
    scene.view_layers[0].use_pass_z = True
    scene.use_nodes = True
    tree = scene.node_tree
    tree.nodes.clear()
    layers, out = tree.nodes.new("CompositorNodeRLayers"), tree.nodes.new("CompositorNodeComposite")

    def math_node(operation, a, b):
        node = tree.nodes.new("CompositorNodeMath")
        node.operation = operation
        for socket, value in zip(node.inputs, (a, b)):
            if isinstance(value, (int, float)):
                socket.default_value = value
            else:
                tree.links.new(value, socket)
        return node.outputs[0]

    depth = layers.outputs["Depth"]
    clear = math_node("POWER", 0.5, math_node("DIVIDE", depth, haze))
    near = math_node("LESS_THAN", depth, 8500.0)
    share = math_node("MULTIPLY", math_node("MULTIPLY", math_node("SUBTRACT", 1.0, clear), near), 0.9)
    mix = tree.nodes.new("CompositorNodeMixRGB")
    tree.links.new(share, mix.inputs[0])
    tree.links.new(layers.outputs["Image"], mix.inputs[1])
    mix.inputs[2].default_value = list(world["pale"]) + [1]
    tree.links.new(mix.outputs[0], out.inputs["Image"])
cycles = scene.cycles
cycles.device, cycles.samples, cycles.seed = "CPU", job["samples"], 0
cycles.use_denoising, cycles.use_adaptive_sampling = False, False
cycles.max_bounces, cycles.diffuse_bounces, cycles.glossy_bounces = 5, 3, 2
cycles.transmission_bounces, cycles.transparent_max_bounces = 2, 2
cycles.sample_clamp_direct, cycles.sample_clamp_indirect, cycles.caustics_reflective, cycles.caustics_refractive = 8.0, 1.5, False, False
# Flames and lit windows are seen and mirrored; the lamps beside them give the light, without noise.
for material in bpy.data.materials:
    material.cycles.sample_as_light = False
    tree = material.node_tree
    for surface in [n for n in tree.nodes if n.type == "BSDF_PRINCIPLED"] if tree else []:
        strength = surface.inputs["Emission Strength"]
        if strength.default_value <= 0 or strength.is_linked:
            continue
        path, scaled = tree.nodes.new("ShaderNodeLightPath"), tree.nodes.new("ShaderNodeMath")
        scaled.operation = "MULTIPLY_ADD"
        tree.links.new(path.outputs["Is Diffuse Ray"], scaled.inputs[0])
        scaled.inputs[1].default_value = -strength.default_value
        scaled.inputs[2].default_value = strength.default_value
        tree.links.new(scaled.outputs[0], strength)
bpy.ops.render.render(write_still=True)
