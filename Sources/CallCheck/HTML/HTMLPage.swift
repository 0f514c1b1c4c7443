/// What is the same on every page: style, script, and which of both may run.
enum HTMLPage {
  static let style = "\n" + String(decoding: PackageResources.report_css, as: UTF8.self)

  static let script =
    "/*<![CDATA[*/\n" + String(decoding: PackageResources.report_js, as: UTF8.self) + "/*]]>*/"

  /// Nothing is loaded, nothing is sent, and no style and no script but these two has any effect: even if something from the
  /// wire came to stand in the page as markup.
  static let policy =
    "default-src 'none'; img-src data:; media-src data:; style-src '\(hash(style))'; script-src '\(hash(script))'; "
    + "base-uri 'none'; form-action 'none'"

  private static func hash(_ text: String) -> String { "sha256-" + Base64.text(SHA256.digest(Array(text.utf8))) }
}
