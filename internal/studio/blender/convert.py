"""Writes a person's own .blend file as GLB, in a process that is thrown away afterwards. No script of the file runs,
and of other files nothing is read into the result."""
import json
import sys

import bpy
import numpy as np

np.bool = bool  # the glTF add-on asks for the old name
job = json.loads(sys.argv[sys.argv.index("--") + 1])
bpy.ops.wm.open_mainfile(filepath=job["file"], load_ui=False, use_scripts=False)
if bpy.data.libraries:
    sys.exit("the file links to %s; make the linked data local" % bpy.data.libraries[0].name)
for image in list(bpy.data.images):
    if not image.packed_file:
        bpy.data.images.remove(image)
for thing in bpy.context.scene.objects:
    thing.hide_set(False)
bpy.ops.export_scene.gltf(
    filepath=job["out"], export_format="GLB", export_yup=True, export_apply=False, export_cameras=True, export_lights=True,
    export_extras=True, export_animations=False)
