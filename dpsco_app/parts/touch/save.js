// Panels of a figure as one picture, made and saved in this browser.

const style = ({ ink, page }) =>
  `text { font: 13px Arial, Helvetica, sans-serif; fill: ${ink}; } ` +
  `.halo { paint-order: stroke; stroke: ${page}; stroke-width: 4px; }`

const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;")

// Panels are [svg, x, y]; words are [text, x, y, attributes].
export const sheet = (panels, words, [width, height], colours) => {
  const svg = panels[0][0].cloneNode(false)
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`)
  svg.setAttribute("width", width)
  svg.setAttribute("height", height)
  const drawn = panels.map(([panel, x, y]) => {
    const { width: w, height: h } = panel.viewBox.baseVal
    return `<svg x="${x}" y="${y}" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}">` +
      `${panel.innerHTML}</svg>`
  })
  const said = words.map(([text, x, y, more = ""]) =>
    `<text x="${x}" y="${y}" ${more}>${escaped(text)}</text>`)
  svg.innerHTML = `<style>${style(colours)}</style>` +
    `<rect width="${width}" height="${height}" fill="${colours.page}"/>${drawn.join("")}${said.join("")}`
  return new XMLSerializer().serializeToString(svg)
}

const saveBlob = (blob, file) => {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(blob)
  link.download = file
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10000)
}

export const saveSvg = (svg, file) =>
  saveBlob(new Blob([svg], { type: "image/svg+xml" }), `${file}.svg`)

export const savePng = async (svg, file) => {
  const image = new Image()
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`
  await image.decode()
  const canvas = document.createElement("canvas")
  canvas.width = 2 * image.width
  canvas.height = 2 * image.height
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height)
  canvas.toBlob((blob) => saveBlob(blob, `${file}.png`))
}
