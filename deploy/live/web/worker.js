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
let page, python, look

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
  const { LivePage } = python.pyimport("dpsco_app.static_page.page")
  for (const file of python.runPython(IMPORTED).toJs()) {
    const { buffer } = python.FS.lookupPath(file).node.contents
    python.FS.unlink(file)
    buffer.transfer?.(0) // gives its memory back at once
  }
  say("step", "figure")
  page = LivePage()
  say("ready")
}

const draw = () => say("screen", page.shown.callKwargs(look.view, look.width, { dark: look.dark }))

let quiet = false // while what is shown has the same numbers, from where the page was built
const work = async () => {
  for (;;) {
    while (questions.length) {
      const { asked, look: other, file, same } = questions.shift()
      if (asked) quiet = Boolean(same)
      if (other) look = other
      if (file) say("file", { file, text: page.file(file) })
      if (asked) page.handle(JSON.stringify(asked))
      if ((asked || other) && !questions.length && !(quiet && page.is_working(look.view))) draw()
    }
    if (!page.is_working(look.view)) {
      quiet = false
      return
    }
    page.step(look.view, SLICE)
    if (quiet ? !page.is_working(look.view) : page.due(look.view)) draw()
    else say("status", page.status(look.view))
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
