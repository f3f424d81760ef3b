// The engine: Python in a worker. It does what the page asks, and runs cells between two questions, so
// that the next move ends what it makes useless.

// The file system is in memory, and what is imported needs its file no more.
const IMPORTED = `
import os, sys
files = {getattr(module, "__file__", None) or "" for module in list(sys.modules.values())}
[file for file in files if file.endswith((".so", ".pyc")) and os.path.isfile(file)]
`
const SLICE = 0.12 // seconds of cells between two looks at the questions
const questions = []
let visit, python, theme, view

const say = (kind, value) => postMessage({ kind, value })
const lastLine = (error) => String(error).trim().split("\n").pop()
const turn = () => new Promise((go) => {
  const { port1, port2 } = new MessageChannel()
  port1.onmessage = go
  port2.postMessage(0)
})

const start = async ({ packages, lock }) => {
  navigator.locks?.request(lock, () => new Promise(() => {})) // held as long as this worker lives
  say("step", "engine")
  const { loadPyodide } = await import("./engine/pyodide.mjs")
  const bytes = async (file) => (await fetch(`engine/${file}`)).arrayBuffer()
  const unpack = (content, ...how) => {
    python.unpackArchive(content, ...how)
    content.transfer?.(0) // gives its memory back at once
  }
  const zip = bytes("dpsco.zip"), wheels = packages.map((name) => bytes(`${name}.whl`))
  python = globalThis.python = await loadPyodide({ indexURL: "./engine/" }) // the console may ask it
  say("step", "packages")
  // Not loadPackage, which starts every extension module: here that is done when one is imported.
  for (const wheel of wheels) unpack(await wheel, "wheel")
  say("step", "library")
  unpack(await zip, "zip", { extractDir: "/home/pyodide" })
  visit = python.pyimport("dpsco_app.site.visit")
  for (const file of python.runPython(IMPORTED).toJs()) {
    const { buffer } = python.FS.lookupPath(file).node.contents
    python.FS.unlink(file)
    buffer.transfer?.(0) // gives its memory back at once
  }
  say("step", "figure")
  python.globals.set("visit", visit.Visit())
  say("ready")
}

const draw = () => say("screen", visit.shown(python.globals.get("visit"), theme, view))

let quiet = false // while what is shown has the same numbers, from where the page was built
const work = async () => {
  const own = python.globals.get("visit")
  for (;;) {
    while (questions.length) {
      const { asked, look, file, same } = questions.shift()
      if (asked) quiet = Boolean(same)
      if (look) theme = visit.theme_of.callKwargs(look.width, { dark: look.dark })
      if (look) view = look.view
      if (file) say("file", { file, text: file === "json" ? own.json() : own.python() })
      if (asked) visit.handled(own, JSON.stringify(asked))
      if ((asked || look) && !questions.length && !(quiet && view === visit.CURVES)) draw()
    }
    if (!own.is_running || view !== visit.CURVES) {
      quiet = false
      return
    }
    own.step(SLICE)
    if (quiet ? !own.is_running : own.due()) draw()
    else say("status", own.status())
    await turn()
  }
}

let going = Promise.resolve()
onmessage = ({ data }) => {
  if (data.packages) {
    going = start(data).catch((error) => { say("dead", lastLine(error)) })
    return
  }
  questions.push(data)
  if (questions.length === 1) going = going.then(work).catch((error) => say("dead", lastLine(error)))
}
