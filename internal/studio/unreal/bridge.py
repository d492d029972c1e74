"""Loregate's bridge into an Unreal editor.

Put this file into the project's Content/Python folder and add a line to init_unreal.py:
import loregate_bridge. It offers one function to Remote Control, which takes the name of
an operation and its arguments as JSON, and does only the operations of its table.
"""
import json
import os
import time

import unreal

VERSION = "1.0.0"
ROOT = "/Game/Loregate"


def inside(path):
    """An export that the server has put below the project's own Loregate folder."""
    root = os.path.realpath(os.path.join(unreal.Paths.project_dir(), "Loregate"))
    full = os.path.realpath(os.path.join(root, path))
    if os.path.commonpath([root, full]) != root:
        raise ValueError("the file is not below %s" % root)
    return full


def op_version():
    return {"bridge": VERSION, "engine": unreal.SystemLibrary.get_engine_version()}


def op_import_asset(file, name, replace):
    task = unreal.AssetImportTask()
    task.filename = inside(file)
    task.destination_path = ROOT
    task.destination_name = name
    task.automated = True
    task.replace_existing = replace
    task.save = True
    unreal.AssetToolsHelpers.get_asset_tools().import_asset_tasks([task])
    return {"imported_object_paths": [str(p) for p in task.imported_object_paths]}


def op_compile_blueprint(name, rules):
    raise NotImplementedError("blueprint graphs cannot be written from Python; make the event graph by hand from the rules")


def op_profile(level, frames):
    started = time.time()
    unreal.EditorLevelLibrary.load_level(ROOT + "/" + level)
    actors = unreal.EditorLevelLibrary.get_all_level_actors()
    return {"load_ms": 1000 * (time.time() - started), "actors": len(actors)}


TABLE = {name[3:]: act for name, act in list(globals().items()) if name.startswith("op_")}


@unreal.uclass()
class LoregateBridge(unreal.BlueprintFunctionLibrary):
    @unreal.ufunction(static=True, ret=str, params=[str, str])
    def perform(operation, arguments):
        try:
            return json.dumps({"ok": True, "result": TABLE[operation](**json.loads(arguments))})
        except Exception as e:
            return json.dumps({"ok": False, "error": "%s: %s" % (type(e).__name__, e)})
