import HTTPTypes
import Hummingbird
import NIOCore

/// The files of the page and the description of the API, which are in the program.
enum PageFiles {
  private static let files: [String: (type: String, bytes: [UInt8])] = [
    "index.html": ("text/html; charset=utf-8", PackageResources.index_html),
    "page.css": ("text/css; charset=utf-8", PackageResources.page_css),
    "page.js": ("text/javascript; charset=utf-8", PackageResources.page_js),
    "icon.svg": ("image/svg+xml", PackageResources.icon_svg),
  ]

  static let names = Set(files.keys)

  /// The page loads nothing from elsewhere, and runs no script but its own.
  private static let policy =
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"

  /// - Parameter mediaOrigin: where files are that are played; nil: they come from the service.
  static func response(_ name: String, _ headers: HTTPFields, mediaOrigin: String? = nil) -> Response {
    guard let file = files[name] else { return APIResponder.response(APIProblem(.notFound)) }
    return Response(
      status: .ok,
      headers: [
        .contentType: file.type, .cacheControl: "no-cache",
        .contentSecurityPolicy: mediaOrigin.map { "\(policy); media-src 'self' \($0)" } ?? policy,
        .referrerPolicy: "no-referrer",
      ], body: ResponseBody(byteBuffer: ByteBuffer(bytes: file.bytes)))
  }

  static var openAPI: Response {
    Response(
      status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-cache"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: PackageResources.openapi_json)))
  }
}
