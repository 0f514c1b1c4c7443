internal import Media

/// A diagnosis as a table.
public struct DiagnosisTable: Sendable {
  private let report: DiagnosisReport

  public init(_ report: DiagnosisReport) {
    self.report = report
  }

  /// The lines without control characters.
  public var lines: [String] {
    var lines = ["addresses"]
    if report.interfaces.isEmpty { lines.append("  none") }
    for interface in report.interfaces {
      let use = interface.isUsed ? "used" : "not used: \(interface.reason ?? "")"
      lines.append("  \(Self.padded(interface.name, 12)) \(Self.padded(interface.address, 26)) \(use)")
    }
    if let network = report.ipv6Only { lines += ["", "network", Self.line("IPv6 only", Self.text(network))] }
    for entry in report.stun {
      lines += ["", Self.title(entry.measured.url, entry.measured.address)] + stun(entry.measured)
    }
    for server in report.turn {
      lines += ["", Self.title("\(server.url) over \(server.transport.uppercased())", server.address)] + turn(server)
    }
    if let server = report.server { lines += ["", Self.title(server.address, server.resolved)] + room(server) }
    lines += ["", report.verdict.summary] + report.verdict.advice
    return lines.map { $0.printable(utf8Bytes: 1_000) }
  }

  private static func text(_ network: IPv6OnlyDiagnosis) -> String {
    if let prefix = network.nat64Prefix { return "IPv4 is reached through a NAT64 with the prefix \(prefix)" }
    return network.failure ?? "there is no NAT64, so that IPv4 is not reached"
  }

  private func stun(_ server: STUNServerDiagnosis) -> [String] {
    if let failure = server.failure { return [Self.line("failed", failure)] }
    var lines = [Self.line("reached", Self.milliseconds(server.roundTripTime))]
    lines.append(Self.line("mapped", server.mapped ?? "unknown"))
    lines.append(Self.line("mapping", Self.finding(server.mapping, server.mappingMethod)))
    lines.append(Self.line("filtering", Self.finding(server.filtering, server.filteringMethod)))
    if let meaning = server.meaning { lines.append(Self.line("meaning", meaning)) }
    return lines
  }

  private func turn(_ server: TURNServerDiagnosis) -> [String] {
    var lines: [String] = []
    if server.isAllocated {
      lines.append(
        Self.line(
          "relayed",
          "\(server.relayed.joined(separator: " and ")) after \(Self.milliseconds(server.allocationTime))"))
      if let mapped = server.mapped { lines.append(Self.line("mapped", mapped)) }
      let word = server.returnsData.map { $0 ? "returned" : "not returned" }
      lines.append(Self.line("data", Self.finding(word, server.dataTest)))
    }
    if let certificate = server.certificate { lines += Self.lines(certificate) }
    if let failure = server.failure { lines.append(Self.line("failed", failure)) }
    if !server.isUsedByCalls { lines.append(Self.line("note", "Calls use it only with ?transport=tcp in the URL.")) }
    return lines
  }

  private func room(_ server: RoomServerDiagnosis) -> [String] {
    var steps: [String] = []
    if let time = server.connectTime { steps.append("TCP \(Self.milliseconds(time))") }
    if let time = server.tlsTime { steps.append("TLS \(Self.milliseconds(time))") }
    if let time = server.answerTime { steps.append("\(server.answer ?? "answer") \(Self.milliseconds(time))") }
    var lines = steps.isEmpty ? [] : [Self.line("reached", steps.joined(separator: ", "))]
    if let certificate = server.certificate { lines += Self.lines(certificate) }
    if let offset = server.clockOffset {
      let side = offset.seconds < 0 ? "ahead" : "behind"
      lines.append(
        Self.line(
          "clock",
          "\(DisplayText.tenths(abs(offset.seconds))) s \(side), ± \(DisplayText.tenths(offset.bound)) s"
            + (offset.isTooLarge ? ": too much" : "")))
    } else if server.answer != nil {
      lines.append(Self.line("clock", "unknown: the server sends no date"))
    }
    if let failure = server.failure { lines.append(Self.line("failed", failure)) }
    return lines
  }

  private static func lines(_ certificate: CertificateDiagnosis) -> [String] {
    [
      line("certificate", "\(certificate.subject), valid until \(certificate.expiry)"),
      line("issued by", certificate.issuer),
      line("trusted", certificate.isTrusted ? "yes" : "no: \(certificate.problem ?? "no reason given")"),
    ]
  }

  // MARK: Figures

  private static func title(_ name: String, _ address: String?) -> String {
    address.map { "\(name) at \($0)" } ?? name
  }

  private static func finding(_ word: String?, _ method: String?) -> String {
    "\(word ?? "unknown")\(method.map { ": \($0)" } ?? "")"
  }

  private static func milliseconds(_ time: Double?) -> String {
    time.map { "\(DisplayText.tenths($0)) ms" } ?? "unknown"
  }

  private static func line(_ name: String, _ text: String) -> String { "  \(padded(name, 12)) \(text)" }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
