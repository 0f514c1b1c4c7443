package import CallCheck
import Codecs
import FoundationEssentials

extension HTMLReport {
  /// The maximum number of frames shown of all streams of a peer, and of all streams of the page. A frame takes up to 16 kB of the
  /// page, so that those of a peer stay below 400 kB.
  private static let maximumVideoFramesOfPeer = 24
  private static let maximumVideoFramesOfPage = 160

  /// The maximum number of frames shown of a stream. The frames of further streams are left out if there are very many.
  private func maximumVideoFrames(of stream: PeerReport) -> Int {
    let counts = report.peers.map { 1 + ($0.streams?.count ?? 0) }
    let own = report.peers.firstIndex { $0.id == stream.id }.map { counts[$0] } ?? 1
    let most = min(
      16, Self.maximumVideoFramesOfPeer / own, Self.maximumVideoFramesOfPage / max(1, counts.reduce(0, +)))
    return max(stream.streamNumber == 1 ? 2 : 0, most)
  }

  /// Writes a few decoded frames.
  ///
  /// - Parameter title: the heading; nil for none.
  func videoFrames(_ peer: PeerReport, title: String? = "Received frames", into page: inout Markup) {
    let most = maximumVideoFrames(of: peer)
    if most == 0 { return }
    let every = max(1, (peer.thumbnails.count + most - 1) / most)
    let chosen = stride(from: 0, to: peer.thumbnails.count, by: every).map { peer.thumbnails[$0] }
    let shown = chosen.compactMap { thumbnail in
      ThumbnailImage.bytes(of: thumbnail).map {
        (thumbnail, "data:image/webp;base64," + Data($0).base64EncodedString())
      }
    }
    if shown.isEmpty { return }
    if let title { page.element("h3", text: title) }
    page.newLine()
    page.element("div", ["class": "strip-of-pictures"]) { page in
      for (thumbnail, image) in shown {
        let time = NumberFormatting.time(thumbnail.time)
        page.element("figure") { page in
          page.empty(
            "img",
            [
              "src": image, "width": "\(thumbnail.width)", "height": "\(thumbnail.height)",
              "alt": "The decoded frame at \(time)",
            ])
          page.element("figcaption", text: time)
        }
        page.newLine()
      }
    }
  }

  /// Writes the recordings, as players if they are small enough to embed.
  func recordings(_ peer: PeerReport, into page: inout Markup) {
    if peer.recordings.isEmpty { return }
    page.element("h3", text: "Recordings")
    page.element("div", ["class": "recordings"]) { page in
      for name in peer.recordings {
        page.newLine()
        page.element("figure") { recording(name, into: &$0) }
      }
    }
  }

  private func recording(_ name: String, into page: inout Markup) {
    let shown = ReportText.line(Self.file(name), limit: 100)
    let type = Self.mediaType(name)
    if case .bytes(let bytes) = recordings[name], let type, embedded.contains(name) {
      let source = "data:\(type);base64,\(Data(bytes).base64EncodedString())"
      let player: StaticString = type.hasPrefix("video") ? "video" : "audio"
      page.element(
        player, ["controls": "controls", "preload": "metadata", "src": source, "aria-label": shown], text: "")
      page.element("figcaption", text: "\(shown), \(NumberFormatting.bytes(bytes.count))")
      return
    }
    var link = name
    var note = ""
    switch recordings[name] {
    case .file(let path): link = path
    case .bytes(let bytes): note = ", \(NumberFormatting.bytes(bytes.count)): too large to embed in this page"
    case nil: break
    }
    page.element("figcaption") { page in
      page.element("a", ["href": Self.link(link)], text: shown)
      page.write(note)
    }
  }

  /// The files that are embedded in the page: in order, as long as there is room.
  private var embedded: Set<String> {
    var left = Self.maximumTotalEmbedded
    var chosen: Set<String> = []
    for name in report.peers.flatMap(\.recordings) {
      guard case .bytes(let bytes) = recordings[name], bytes.count <= min(left, Self.maximumEmbedded) else { continue }
      if chosen.insert(name).inserted { left -= bytes.count }
    }
    return chosen
  }

  private static func file(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

  private static func mediaType(_ name: String) -> String? {
    let name = name.lowercased()
    if name.hasSuffix(".webm") { return "video/webm" }
    if name.hasSuffix(".mkv") { return "video/x-matroska" }
    if name.hasSuffix(".mka") { return "audio/x-matroska" }
    if name.hasSuffix(".ogg") || name.hasSuffix(".opus") { return "audio/ogg" }
    if name.hasSuffix(".wav") { return "audio/wav" }
    return nil
  }

  /// Returns a path as a relative reference (RFC 3986, 4.2). Everything but unreserved characters and the slash is
  /// percent-encoded, so that a name cannot be a scheme, a query or another host.
  static func link(_ path: String) -> String {
    let digits = Array("0123456789ABCDEF")
    var text = ""
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"), UInt8(ascii: "/"):
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        text += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
      }
    }
    while text.hasPrefix("//") { text.removeFirst() }
    return text
  }
}

/// A frame of the page as a lossy WebP file of a few kilobytes.
package enum ThumbnailImage {
  /// The size in bytes above which a frame is encoded more coarsely; only noise reaches it.
  private static let usualBytes = 12_000
  private static let quantizers = [WebPImage.defaultQuantizer, 44, 63]

  /// - Returns: The file; nil without pixels, or if they cannot be encoded.
  package static func bytes(of thumbnail: Thumbnail) -> [UInt8]? {
    guard let videoFrame = thumbnail.videoFrame else { return nil }
    var smallest: [UInt8]?
    for quantizer in quantizers {
      guard let file = try? WebPImage.bytes(of: videoFrame, quantizer: quantizer) else { return nil }
      smallest = file
      if file.count <= usualBytes { break }
    }
    return smallest
  }
}
