// Compile the modules of an archive with the engine's own Python: node compile.mjs ENGINE IN OUT
import { readFileSync, writeFileSync } from "node:fs"
import { pathToFileURL } from "node:url"

const [engine, from, to] = process.argv.slice(2)
const { loadPyodide } = await import(pathToFileURL(`${engine}/pyodide.mjs`))
const python = await loadPyodide({ indexURL: `${engine}/` })
python.FS.writeFile("/in.zip", new Uint8Array(readFileSync(from)))
python.runPython(`
import zipfile
from importlib._bootstrap_external import _code_to_timestamp_pyc
with zipfile.ZipFile("/in.zip") as found, zipfile.ZipFile("/out.zip", "w") as made:
    for name in found.namelist():
        code = compile(found.read(name), name.partition("/")[2], "exec", dont_inherit=True)
        made.writestr(f"{name}c", _code_to_timestamp_pyc(code))
`)
writeFileSync(to, python.FS.readFile("/out.zip"))
