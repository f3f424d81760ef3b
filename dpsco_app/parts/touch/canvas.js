// A plane on a canvas: world coordinates, sharp on every screen, colours of the page.

export const plane = (canvas, half) => {
  const { clientWidth: width, clientHeight: height } = canvas
  const ratio = window.devicePixelRatio || 1
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio)
    canvas.height = Math.round(height * ratio)
  }
  const pen = canvas.getContext("2d")
  pen.setTransform(ratio, 0, 0, ratio, 0, 0)
  pen.clearRect(0, 0, width, height)
  const scale = Math.min(width, height) / 2 / half.size
  const [cx, cy] = half.centre
  const toScreen = ([x, y]) => [width / 2 + (x - cx) * scale, height / 2 - (y - cy) * scale]
  const toWorld = ([x, y]) => [(x - width / 2) / scale + cx, (height / 2 - y) / scale + cy]
  return { pen, width, height, scale, toScreen, toWorld }
}

export const dot = ({ pen, toScreen }, point, size, colour) => {
  const [x, y] = toScreen(point)
  pen.beginPath()
  pen.arc(x, y, size, 0, 2 * Math.PI)
  pen.fillStyle = colour
  pen.fill()
}

export const ring = ({ pen, toScreen, scale }, centre, radius, colour, dash = []) => {
  const [x, y] = toScreen(centre)
  pen.beginPath()
  pen.setLineDash(dash)
  pen.arc(x, y, radius * scale, 0, 2 * Math.PI)
  pen.strokeStyle = colour
  pen.lineWidth = 2
  pen.stroke()
  pen.setLineDash([])
}

export const line = ({ pen, toScreen }, from, to, colour, thick = 1) => {
  pen.beginPath()
  pen.moveTo(...toScreen(from))
  pen.lineTo(...toScreen(to))
  pen.strokeStyle = colour
  pen.lineWidth = thick
  pen.stroke()
}

export const arrow = (place, from, to, colour) => {
  line(place, from, to, colour, 2)
  const [x0, y0] = place.toScreen(from)
  const [x1, y1] = place.toScreen(to)
  if (Math.hypot(x1 - x0, y1 - y0) < 6) return
  const angle = Math.atan2(y1 - y0, x1 - x0)
  const { pen } = place
  pen.beginPath()
  pen.moveTo(x1, y1)
  for (const turn of [2.7, -2.7]) {
    pen.lineTo(x1 + 9 * Math.cos(angle + turn), y1 + 9 * Math.sin(angle + turn))
  }
  pen.fillStyle = colour
  pen.fill()
}

export const cross = ({ pen, toScreen }, point, colour) => {
  const [x, y] = toScreen(point)
  pen.beginPath()
  for (const [dx, dy] of [[6, 6], [6, -6]]) {
    pen.moveTo(x - dx, y - dy)
    pen.lineTo(x + dx, y + dy)
  }
  pen.strokeStyle = colour
  pen.lineWidth = 2.5
  pen.stroke()
}

// Text beside a point, above it or (`below`) under it, readable over whatever is there.
export const label = ({ pen, toScreen, width }, point, text, { ink, page, font, size }, below = false) => {
  const [x, y] = toScreen(point)
  pen.font = `${size}px ${font}`
  const left = Math.min(x + 9, width - pen.measureText(text).width - 4)
  const base = below ? y + 4 + size : y - 7
  pen.strokeStyle = page
  pen.lineWidth = 4
  pen.strokeText(text, left, base)
  pen.fillStyle = ink
  pen.fillText(text, left, base)
}
