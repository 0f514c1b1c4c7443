/// Which program this is, for `--version`.
enum Version {
  /// After semver.org; the changelog tells what it holds.
  static let text = "0.1.0"
}
