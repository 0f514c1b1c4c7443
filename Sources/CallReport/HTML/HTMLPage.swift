import COpenSSL
import FoundationEssentials

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

  /// A source of a policy that is a hash (CSP 3, 2.3.1), by OpenSSL's SHA-256.
  static func hash(_ text: String) -> String {
    let text = Array(text.utf8)
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    // Without a digest nothing on the page has any effect: that is safe, and to be seen at once.
    guard EVP_Digest(text, text.count, &digest, &count, EVP_sha256(), nil) == 1 else { return "none" }
    return "sha256-" + Data(digest.prefix(Int(count))).base64EncodedString()
  }
}
