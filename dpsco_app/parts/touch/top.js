// Another step begins at its top. Ctrl+Enter runs from a choice, too, which keeps keys to itself.

export default function ({ data, parentElement: root }) {
  if (root.step !== undefined && root.step !== data.step) {
    const here = root.host ?? root
    here.style.scrollMarginTop = "100vh"  // what stands above it is seen, too
    here.scrollIntoView({ block: "start" })
  }
  root.step = data.step
  const press = (event) => {
    if (event.key !== "Enter" || !event.ctrlKey || event.target.type !== "radio") return
    document.querySelector(data.run)?.click()
  }
  document.addEventListener("keydown", press, true)
  return () => document.removeEventListener("keydown", press, true)
}
