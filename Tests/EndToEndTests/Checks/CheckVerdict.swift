import Foundation

/// The result of a `chatbot check`: its exit code and its JSON report.
struct CheckVerdict: Sendable {
  let ending: ChildProcess.EndReason
  /// The table and the log.
  let output: String
  let json: JSON

  /// The measurements of all rules that did not hold, in order, for all peers.
  var failed: [String] {
    json["results"].list.filter { $0["outcome"] != "held" }.compactMap { $0["measurement"].string }
  }

  /// The measurements that could not be taken.
  var notMeasured: [String] {
    json["results"].list.filter { $0["outcome"] == "notMeasured" }.compactMap { $0["measurement"].string }
  }

  /// The number of judged rules, for the room and for peers.
  var judged: Int { json["results"].list.count }

  /// Returns the value that a rule about this measurement was judged by, of the first peer that has one.
  func value(_ measurement: String) -> Double? {
    json["results"].list.first { $0["measurement"].string == measurement }?["value"].double
  }

  /// Returns the first peer, or the one with that id.
  func peer(_ id: String? = nil) -> JSON {
    let peers = json["peers"].list
    return (id == nil ? peers.first : peers.first { $0["id"].string == id }) ?? .null
  }

  /// The start of the check, in milliseconds since 1970.
  var start: Double { (json.date("start") ?? .nan) * 1000 }

  /// The end of the check, in milliseconds since 1970.
  var end: Double { start + (json["duration"].double ?? .nan) * 1000 }

  /// A summary of the rules that did not hold.
  var summary: String {
    let failures = json["results"].list.filter { $0["outcome"] != "held" }
      .map { "\($0["rule"].string ?? "?"): \($0["figure"].string ?? "not measured")" }
    return failures.isEmpty ? "all \(judged) rules held" : failures.joined(separator: ", ")
  }
}
