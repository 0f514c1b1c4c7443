import TestSupport

/// Session descriptions of an attacker.
enum HostileDescription {
  private static let fingerprint = Array(repeating: "AB", count: 32).joined(separator: ":")

  /// A video section that a peer answers.
  static let video = """
    v=0\r
    o=- 1 1 IN IP4 0.0.0.0\r
    s=-\r
    t=0 0\r
    m=video 9 UDP/TLS/RTP/SAVPF 96\r
    c=IN IP4 0.0.0.0\r
    a=mid:0\r
    a=ice-ufrag:abcd\r
    a=ice-pwd:abcdefghijklmnopqrstuv\r
    a=fingerprint:sha-256 \(fingerprint)\r
    a=setup:actpass\r
    a=rtcp-mux\r
    a=sendonly\r
    a=rtpmap:96 VP8/90000\r
    a=extmap:10 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id\r

    """

  /// Audio and video, as in a browser's offer.
  private static let complete = """
    v=0\r
    o=- 4611731400430051336 2 IN IP4 127.0.0.1\r
    s=-\r
    t=0 0\r
    a=group:BUNDLE 0 1\r
    a=msid-semantic: WMS stream\r
    m=audio 9 UDP/TLS/RTP/SAVPF 111\r
    c=IN IP4 0.0.0.0\r
    a=rtcp:9 IN IP4 0.0.0.0\r
    a=ice-ufrag:abcd\r
    a=ice-pwd:abcdefghijklmnopqrstuv\r
    a=ice-options:trickle\r
    a=fingerprint:sha-256 \(fingerprint)\r
    a=setup:actpass\r
    a=mid:0\r
    a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level\r
    a=sendrecv\r
    a=msid:stream sound\r
    a=rtcp-mux\r
    a=rtpmap:111 opus/48000/2\r
    a=rtcp-fb:111 transport-cc\r
    a=fmtp:111 minptime=10;useinbandfec=1\r
    a=ssrc:1001 cname:somebody\r
    m=video 9 UDP/TLS/RTP/SAVPF 96 97\r
    c=IN IP4 0.0.0.0\r
    a=rtcp:9 IN IP4 0.0.0.0\r
    a=ice-ufrag:abcd\r
    a=ice-pwd:abcdefghijklmnopqrstuv\r
    a=fingerprint:sha-256 \(fingerprint)\r
    a=setup:actpass\r
    a=mid:1\r
    a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time\r
    a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01\r
    a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid\r
    a=extmap:10 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id\r
    a=sendrecv\r
    a=msid:stream picture\r
    a=rtcp-mux\r
    a=rtcp-rsize\r
    a=rtpmap:96 VP8/90000\r
    a=rtcp-fb:96 goog-remb\r
    a=rtcp-fb:96 transport-cc\r
    a=rtcp-fb:96 ccm fir\r
    a=rtcp-fb:96 nack\r
    a=rtcp-fb:96 nack pli\r
    a=rtpmap:97 rtx/90000\r
    a=fmtp:97 apt=96\r
    a=rid:h send pt=96;max-width=640\r
    a=rid:l send\r
    a=simulcast:send h;l\r
    a=ssrc-group:FID 2001 2002\r
    a=ssrc:2001 cname:somebody\r
    a=ssrc:2002 cname:somebody\r
    a=candidate:1 1 udp 2130706431 127.0.0.1 9 typ host\r
    a=end-of-candidates\r

    """

  /// Returns the lines, repeated up to this number of bytes.
  static func repeated(_ lines: String, to bytes: Int = 180_000) -> String {
    String(repeating: lines, count: bytes / lines.utf8.count)
  }

  /// Returns a browser's offer with one to eight changes.
  static func damaged(using generator: inout SeededGenerator) -> String {
    var lines = complete.split(separator: "\r\n").map { Array($0.utf8) }
    for _ in 0..<Int.random(in: 1...8, using: &generator) {
      let position = Int.random(in: 0..<lines.count, using: &generator)
      let other = Int.random(in: 0..<lines.count, using: &generator)
      let column = Int.random(in: 0...lines[position].count, using: &generator)
      switch Int.random(in: 0..<9, using: &generator) {
      case 0: if lines.count > 1 { lines.remove(at: position) }
      case 1: lines.swapAt(position, other)
      case 2: lines.insert(contentsOf: Array(repeating: lines[position], count: 300), at: other)
      case 3: lines[position] = Array(lines[position][..<column])
      case 4: lines[position].insert(contentsOf: lines[other], at: column)
      case 5: lines[position].insert(UInt8.random(in: 0x01...0x7E, using: &generator), at: column)
      case 6: lines[position].insert(contentsOf: Array(repeating: UInt8(ascii: "9"), count: 30), at: column)
      case 7: lines = Array(lines[..<max(1, position)])
      default:
        let word = lines[position].split(separator: UInt8(ascii: " ")).last ?? []
        lines[position] += Array(repeating: [UInt8(ascii: " ")] + word, count: 200).joined()
      }
    }
    return String(decoding: Array(lines.joined(separator: Array("\r\n".utf8))) + Array("\r\n".utf8), as: UTF8.self)
  }

  /// Returns the message that carries a description to a participant.
  ///
  /// - Parameter kind: `offer` or `answer`.
  static func message(_ kind: String, _ sdp: String, to id: String) throws -> String {
    let data: JSON = ["sdp": ["type": .string(kind), "sdp": .string(sdp)], "socketId": .string(id)]
    return try JSON.object(["eventName": .string("__\(kind)"), "data": data]).text
  }

  static func offer(_ sdp: String, to id: String) throws -> String { try message("offer", sdp, to: id) }

  static func answer(_ sdp: String, to id: String) throws -> String { try message("answer", sdp, to: id) }

  /// Returns the message that carries a candidate to a participant.
  static func candidate(_ text: String, mid: String = "0", to id: String) throws -> String {
    let data: JSON = ["socketId": .string(id), "candidate": .string(text), "id": .string(mid), "label": 0]
    return try JSON.object(["eventName": "__ice_candidate", "data": data]).text
  }
}
