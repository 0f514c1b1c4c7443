/// What a statement or a transaction took, for figures.
package struct SQLOperation: Sendable, Hashable {
  /// From the call to the result; it includes the wait for those before it.
  package var duration: Duration
  /// Whether the database failed, which a violated constraint does not count as.
  package var failed: Bool
}
