internal import Media

/// A participant's profile, which it sends when it joins: an addition of this project, which old clients and servers ignore.
package struct ParticipantProfile: Sendable, Hashable {
  /// The name for people, cleaned as a ``DisplayName``; nil if there is none.
  package let name: String?
  /// Whether the participant records the others.
  package let records: Bool

  /// - Parameter name: any text.
  package init(name: String? = nil, records: Bool = false) {
    self.name = name.flatMap { DisplayName($0)?.description }
    self.records = records
  }

  /// Whether there is neither a name nor a recording.
  package var isEmpty: Bool { name == nil && !records }
}
