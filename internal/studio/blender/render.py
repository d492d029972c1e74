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
scene.view_settings.exposure = job["exposure"]
cycles = scene.cycles
cycles.device, cycles.samples, cycles.seed = "CPU", job["samples"], 0
cycles.use_denoising, cycles.use_adaptive_sampling = False, False
cycles.max_bounces, cycles.diffuse_bounces, cycles.glossy_bounces = 5, 3, 2
cycles.transmission_bounces, cycles.transparent_max_bounces = 2, 2
cycles.sample_clamp_direct, cycles.sample_clamp_indirect, cycles.caustics_reflective, cycles.caustics_refractive = 12.0, 2.0, False, False
bpy.ops.render.render(write_still=True)
