package import NIOCore

/// The files of the publisher's and the player's page, compiled into the program by
/// `resources: [.embedInCode("Page")]` in `Package.swift`.
///
/// They also use `style.css` and `icon.svg` of the call page, and need from a Content-Security-Policy only their own
/// origin for scripts, styles, images and connections, and `blob:` and `mediastream:` for media.
package enum WHIPPage {
  package struct File: Sendable {
    package var type: String
    package var content: ByteBuffer
  }

  /// The files by their paths.
  package static let files: [String: File] = [
    "/whip.html": File(type: "text/html; charset=utf-8", content: ByteBuffer(bytes: PackageResources.whip_html)),
    "/whep.html": File(type: "text/html; charset=utf-8", content: ByteBuffer(bytes: PackageResources.whep_html)),
    "/whip.css": File(type: "text/css; charset=utf-8", content: ByteBuffer(bytes: PackageResources.whip_css)),
    "/whip.js": File(type: "text/javascript; charset=utf-8", content: ByteBuffer(bytes: PackageResources.whip_js)),
  ]
}
