// Pointing at a line of a figure, or at its row in the ladder, lets the others fade and shows what is
// drawn for it alone: where most trials lie, and what is proven. A trace says in `meta` whose it is.

import { keep, newLayer } from "./layer.js"

const FADED = 0.2
const MORE = ":more"

const groupOf = (gd, { uid }) => gd.querySelector(`.trace${CSS.escape(uid)}`)

const light = (gd, key) => {
  for (const trace of gd._fullData ?? []) {
    const group = groupOf(gd, trace)
    if (!group || !trace.meta) continue
    group.dataset.own ??= group.style.opacity || "1"
    const own = Number(group.dataset.own)
    const more = trace.meta.endsWith(MORE)
    const its = trace.meta.replace(MORE, "") === key
    group.style.opacity = !key ? own : more ? (its ? 1 : 0) : its ? 1 : own * FADED
  }
  gd.querySelectorAll(".annotation").forEach((note) => {
    const { name } = gd._fullLayout.annotations[note.dataset.index] ?? {}
    if (name) note.style.opacity = !key || name === key ? 1 : 2 * FADED
  })
}

// What is proven is not faded, and does not make others fade.
const keyOf = (gd, name) => {
  const has = (gd._fullData ?? []).some(({ meta }) => meta === name + MORE)
  return has ? name : null
}

const listen = (over) => {
  const { gd } = over
  if (gd.dpscoFocus) return
  gd.dpscoFocus = true
  gd.on("plotly_hover", ({ points }) => light(gd, keyOf(gd, points[0]?.data.meta)))
  gd.on("plotly_unhover", () => light(gd, null))
  gd.addEventListener("pointerover", ({ target }) => {
    const note = target.closest?.(".annotation")
    if (!note) return over.row && light(gd, (over.row = null))
    over.row = keyOf(gd, gd._fullLayout.annotations[note.dataset.index]?.name)
    light(gd, over.row)
  })
  gd.addEventListener("pointerleave", () => light(gd, null))
}

export default function ({ data, parentElement: root }) {
  const over = (root.over ??= { root, row: null, layer: newLayer({ class: "focus" }) })
  over.data = data
  if (over.kept) return
  over.kept = true
  keep(over, listen, () => delete root.over)
}
