extension Impairment: CustomStringConvertible {
  /// As it can be read again: reading it gives the same impairment.
  public var description: String {
    let times = Set((send + receive).map(\.time)).sorted()
    let parts = times.map { time in
      let (sent, received) = (conditions(of: send, at: time), conditions(of: receive, at: time))
      let text =
        if sent == received {
          sent ?? ""
        } else {
          [sent.map { "send: \($0)" }, received.map { "receive: \($0)" }].compactMap(\.self).joined(separator: ", ")
        }
      return times == [.zero] ? text : "\(ImpairmentFormat.text(time)): \(text)"
    }
    return parts.isEmpty ? "none" : parts.joined(separator: "; ")
  }

  private func conditions(of steps: [Step], at time: Duration) -> String? {
    steps.first { $0.time == time }?.conditions.description
  }
}

extension Impairment.Conditions: CustomStringConvertible {
  public var description: String {
    var settings: [String] = []
    if loss > 0 || burst != nil { settings.append("loss=\(ImpairmentFormat.percent(loss))") }
    if let burst { settings.append("burst=\(ImpairmentFormat.number(burst))") }
    if delay > .zero { settings.append("delay=\(ImpairmentFormat.text(delay))") }
    if jitter > .zero { settings.append("jitter=\(ImpairmentFormat.text(jitter))") }
    if let rate { settings.append("rate=\(ImpairmentFormat.bitrate(rate))") }
    if queue != Self.usualQueue { settings.append("queue=\(ImpairmentFormat.text(queue))") }
    if reorder > 0 { settings.append("reorder=\(ImpairmentFormat.percent(reorder))") }
    return settings.isEmpty ? "none" : settings.joined(separator: ",")
  }
}
