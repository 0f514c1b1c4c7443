import NIOCore

/// The web page's files, compiled into the program by `resources: [.embedInCode("Page")]` in `Package.swift`.
struct PageFiles: Sendable {
  struct File: Sendable {
    var type: String
    var content: ByteBuffer
  }

  private let files: [String: File]

  init() {
    func file(_ type: String, _ bytes: [UInt8]) -> File { File(type: type, content: ByteBuffer(bytes: bytes)) }
    let script = "text/javascript; charset=utf-8"
    let index = file("text/html; charset=utf-8", PackageResources.index_html)
    let icon = file("image/svg+xml", PackageResources.icon_svg)
    files = [
      "/": index,
      "/index.html": index,
      "/app.js": file(script, PackageResources.app_js),
      "/signalling.js": file(script, PackageResources.signalling_js),
      "/media.js": file(script, PackageResources.media_js),
      "/peer.js": file(script, PackageResources.peer_js),
      "/tiles.js": file(script, PackageResources.tiles_js),
      "/style.css": file("text/css; charset=utf-8", PackageResources.style_css),
      "/icons.svg": file("image/svg+xml", PackageResources.icons_svg),
      "/icon.svg": icon,
      "/favicon.ico": icon,
    ]
  }

  /// The file at a path; the page is at the root.
  func file(at path: String) -> File? { files[path] }

  /// Read once; the buffers share their bytes with every answer.
  static let all = PageFiles()
}
