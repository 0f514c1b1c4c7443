import CallCheck

extension HTMLReport {
  /// Writes the chat messages of the call as a table.
  func messages(_ peer: PeerReport, into page: inout Markup) {
    guard let messages = peer.messages, !messages.isEmpty else { return }
    page.element("h3", text: "Messages")
    page.element("div", ["class": "scroll"]) { page in
      page.element("table", ["class": "messages"]) { page in
        page.element("thead") { page in
          page.element("tr") { page in
            for name in ["At", "From", "Text"] { page.element("th", ["scope": "col"], text: name) }
          }
        }
        page.element("tbody") { page in
          for message in messages {
            page.newLine()
            page.element("tr") { page in
              page.element("td", ["class": "number"], text: NumberFormatting.time(message.time))
              page.element("th", ["scope": "row"]) { page in
                page.element("bdi", text: ReportText.line(message.name ?? message.from, limit: 80))
              }
              page.element("td") { $0.element("bdi", text: ReportText.line(message.text, limit: 600)) }
            }
          }
        }
      }
    }
    if let more = peer.furtherMessages {
      page.element("p", ["class": "soft"], text: "\(NumberFormatting.plural(more, "more message", "more messages")).")
    }
    page.newLine()
  }
}
