/// Counts sentences. The number of different ones is limited: an error that never ends may have a new wording each time.
package struct SentenceCounts: Sendable, Hashable {
  /// The maximum number of different sentences.
  package static let maximumSentences = 64

  /// How often each sentence was added.
  package private(set) var counts: [String: Int] = [:]
  /// How many further ones were added.
  package private(set) var others = 0
  /// The one that was added first.
  package private(set) var first: String?

  package init() {}

  package var isEmpty: Bool { first == nil }

  package mutating func add(_ sentence: String) {
    first = first ?? sentence
    if counts[sentence] != nil || counts.count < Self.maximumSentences {
      counts[sentence, default: 0] += 1
    } else {
      others += 1
    }
  }
}
