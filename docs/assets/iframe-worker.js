// The site's search runs in a worker, and browsers refuse workers to pages that were opened as files. A hidden frame does
// the same work, so that search needs neither a server nor a request to anywhere.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.onmessage = null
      this.onerror = null
      this.waiting = []
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.documentElement.append(this.frame)
      const inside = this.frame.contentWindow
      inside.postMessage = (data) => setTimeout(() => this.tell("message", data))
      const script = inside.document.createElement("script")
      script.src = new URL(url, location.href)
      script.onload = () => {
        const waiting = this.waiting
        this.waiting = null
        waiting.forEach((data) => this.postMessage(data))
      }
      script.onerror = () => this.tell("error")
      inside.document.body.append(script)
    }

    tell(type, data) {
      const event = new MessageEvent(type, { data })
      this["on" + type]?.(event)
      this.dispatchEvent(event)
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data)
      else this.frame.contentWindow?.dispatchEvent(new MessageEvent("message", { data }))
    }

    terminate() {
      this.frame.remove()
    }
  }
}
