/// Why nothing is composed, as a sentence for the user.
package struct CompositionError: Error, Sendable, Hashable, CustomStringConvertible {
  package enum Kind: Sendable, Hashable {
    /// The options are wrong, or go beyond a limit: exit code 64.
    case usage
    /// The recordings cannot be composed: exit code 66.
    case input
  }

  package let kind: Kind
  package let sentence: String

  package static func usage(_ sentence: String) -> CompositionError { .init(kind: .usage, sentence: sentence) }
  package static func input(_ sentence: String) -> CompositionError { .init(kind: .input, sentence: sentence) }

  package var description: String { sentence }
}
