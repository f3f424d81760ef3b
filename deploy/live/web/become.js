// A place of the page takes on new HTML, and keeps each element that stays: it may have the focus, or be
// under a finger.

// controls whose move the engine has not answered
export const moved = new Set()
export const markMoved = (control) => moved.add(control)

export const become = (place, html) => {
  const made = document.createElement("div")
  made.innerHTML = html
  same(place, made)
}
const same = (old, made) => {
  const news = [...made.childNodes]
  news.forEach((node, i) => {
    const there = old.childNodes[i]
    const alike = there && there.nodeName === node.nodeName && there.id === node.id
    if (!alike) return there ? there.replaceWith(node) : old.append(node)
    if (node.nodeType !== Node.ELEMENT_NODE) return there.data !== node.data && (there.data = node.data)
    for (const { name } of [...there.attributes]) if (!node.hasAttribute(name) && name !== "open") there.removeAttribute(name)
    for (const { name, value } of node.attributes) if (there.getAttribute(name) !== value) there.setAttribute(name, value)
    if (there.dataset.field && !moved.has(there)) {
      there.checked = node.hasAttribute("checked")
      if (node.type === "range") there.value = node.getAttribute("value")
    }
    same(there, node)
    if (there.nodeName === "SELECT") there.value = node.value
  })
  while (old.childNodes.length > news.length) old.lastChild.remove()
}
