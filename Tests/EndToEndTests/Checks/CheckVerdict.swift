import Foundation

/// What one `chatbot check` has come to, by its exit code and its JSON report.
struct CheckVerdict: Sendable {
  let ending: ChildProcess.EndReason
  /// The table and the log.
  let output: String
  let json: JSON

  /// The measurements whose rules did not hold, in order, for all peers together.
  var failed: [String] {
    json["results"].list.filter { $0["outcome"] != "held" }.compactMap { $0["measurement"].string }
  }

  /// Those that were not even measured.
  var notMeasured: [String] {
    json["results"].list.filter { $0["outcome"] == "notMeasured" }.compactMap { $0["measurement"].string }
  }

  /// How many rules were judged, for the room or for a peer.
  var judged: Int { json["results"].list.count }

  /// What a rule about that measurement was judged by, of the first peer that has one.
  func value(_ measurement: String) -> Double? {
    json["results"].list.first { $0["measurement"].string == measurement }?["value"].double
  }

  /// The first peer, or the one with that id.
  func peer(_ id: String? = nil) -> JSON {
    let peers = json["peers"].list
    return (id == nil ? peers.first : peers.first { $0["id"].string == id }) ?? .null
  }

  /// When the check began, in milliseconds since 1970.
  var start: Double { (json.date("start") ?? .nan) * 1000 }

  /// When it ended.
  var end: Double { start + (json["duration"].double ?? .nan) * 1000 }

  /// All that was not held, for people.
  var summary: String {
    let failures = json["results"].list.filter { $0["outcome"] != "held" }
      .map { "\($0["rule"].string ?? "?"): \($0["figure"].string ?? "not measured")" }
    return failures.isEmpty ? "all \(judged) rules held" : failures.joined(separator: ", ")
  }
}
