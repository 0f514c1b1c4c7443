import TestSupport

/// Descriptions in the form of those in RFC 9725, 4.2.
enum Sample {
  static let candidate = "candidate:7 1 udp 2122260223 192.0.2.7 61764 typ host"
  static let certificate =
    "DA:7B:57:DC:28:CE:04:4F:31:79:85:C4:31:67:EB:27:58:29:ED:77:2A:0D:24:AE:ED:AD:30:BC:BD:F1:9C:02"

  static func offer(
    fragment: String = "EsAw", fingerprint: String = certificate, mids: [String] = ["0", "1"],
    direction: String = "sendonly", setup: String = "actpass"
  ) -> String {
    var lines = [
      "v=0", "o=- 5228595038118931041 2 IN IP4 127.0.0.1", "s=-", "t=0 0",
      "a=group:BUNDLE \(mids.joined(separator: " "))", "a=extmap-allow-mixed", "a=msid-semantic: WMS",
    ]
    for (index, mid) in mids.enumerated() {
      let isAudio = index == 0
      lines += [
        "m=\(isAudio ? "audio" : "video") 9 UDP/TLS/RTP/SAVPF \(isAudio ? "111" : "96")", "c=IN IP4 0.0.0.0",
        "a=ice-ufrag:\(fragment)", "a=ice-pwd:bP+XJMM09aR8AiX1jdukzR6Y", "a=ice-options:trickle",
        "a=fingerprint:sha-256 \(fingerprint)", "a=setup:\(setup)", "a=mid:\(mid)", "a=\(direction)",
        "a=msid:- track\(index)", "a=rtcp-mux", "a=rtcp-mux-only",
        "a=rtpmap:\(isAudio ? "111 opus/48000/2" : "96 VP8/90000")",
      ]
      if index == 0 { lines.append("a=\(candidate)") }
    }
    return lines.map { $0 + "\r\n" }.joined()
  }

  static func answer(fingerprint: String = "F7:EB:F3") -> String {
    var lines = [
      "v=0", "o=- 1657793490019 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0 1", "a=ice-lite",
    ]
    for (mid, media) in ["audio 9 UDP/TLS/RTP/SAVPF 111", "video 9 UDP/TLS/RTP/SAVPF 96"].enumerated() {
      lines += [
        "m=\(media)", "c=IN IP4 0.0.0.0", "a=ice-ufrag:38sd", "a=ice-pwd:2e13dde17c1cb009202f627f",
        "a=fingerprint:sha-256 \(fingerprint)", "a=candidate:1 1 UDP 2130706431 198.51.100.1 39132 typ host ufrag 38sd",
        "a=setup:passive", "a=mid:\(mid)", "a=recvonly", "a=rtcp-mux",
      ]
    }
    return lines.map { $0 + "\r\n" }.joined()
  }

  /// Changes, removes, repeats or inserts some bytes.
  static func damaged(_ text: String, using generator: inout SeededGenerator) -> String {
    var bytes = Array(text.utf8)
    for _ in 0..<Int.random(in: 1...8, using: &generator) where !bytes.isEmpty {
      let index = Int.random(in: 0..<bytes.count, using: &generator)
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
      case 1: bytes.removeSubrange(index..<min(bytes.count, index + 9))
      case 2: bytes.insert(contentsOf: bytes[index..<min(bytes.count, index + 40)], at: index)
      default: bytes.insert(UInt8.random(in: 0...127, using: &generator), at: index)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
