internal import FoundationEssentials
internal import JSON

/// What a node says of its capacity in the database.
package struct NodeCapacity: Sendable, Hashable, Codable {
  package struct Figure: Sendable, Hashable, Codable {
    package var used: Int64
    package var limit: Int64

    package init(used: Int64, limit: Int64) {
      self.used = used
      self.limit = limit
    }
  }

  /// Whether the node would take another job.
  package var hasRoom: Bool
  /// The jobs that it has.
  package var jobs: Int
  /// By the names of resources.
  package var figures: [String: Figure]

  package init(hasRoom: Bool, jobs: Int, figures: [String: Figure]) {
    self.hasRoom = hasRoom
    self.jobs = jobs
    self.figures = figures
  }

  /// A JSON object.
  package var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(self) else { return "{}" }
    return String(decoding: data, as: UTF8.self)
  }

  /// Reads ``text``; nil if it is none.
  package init?(text: String) {
    let limits = JSONLimits(bytes: 65_536, values: 1_000, depth: 4)
    guard let capacity = try? JSONReader.decode(Self.self, from: text, within: limits) else { return nil }
    self = capacity
  }
}
