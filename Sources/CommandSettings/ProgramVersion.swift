/// The version of all programs, for `--version`.
package enum ProgramVersion {
  /// Follows semver.org; the changelog lists its changes.
  package static let text = "0.2.0"
}
