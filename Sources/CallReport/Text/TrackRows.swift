import CallCheck

extension PeerReport {
  /// The peer as its first stream, and each further stream as a peer with the media of that stream.
  var allStreams: [PeerReport] { [self] + (streams ?? []).compactMap { stream($0.number) } }

  /// The name of one of the streams, for example "stream 2 (slides)".
  func title(ofStream number: Int) -> String {
    streams?.first { $0.number == number }?.title ?? "stream \(number)"
  }

  /// The codecs of the first stream for people, for example "H.264 (avc1.42e01f), Opus"; nil if none are known.
  var codecTitle: String? {
    let titles = [codecs?.video, codecs?.audio].compactMap { $0?.title }
    return titles.isEmpty ? nil : titles.joined(separator: ", ")
  }

  /// A row for each track of each stream, for example "stream 2 (slides), video" and "VP8, 1280\u{D7}720, 5 fps, 212 kbit/s"; a row with
  /// the codecs if the peer has one stream only.
  var trackRows: [(name: String, value: String)] {
    if streams == nil {
      return (codecTitle.map { [("codecs", $0)] } ?? []) + (orientationTitle.map { [("orientation", $0)] } ?? [])
    }
    return allStreams.flatMap { stream in
      let title = title(ofStream: stream.streamNumber)
      var rows: [(name: String, value: String)] = []
      if let video = stream.video {
        let codec = stream.codecs?.video.map { "\($0.title), " } ?? ""
        let turned = video.orientations?.last.map { "\($0), " } ?? ""
        let size = (video.sizes.last.map { "\($0.width)\u{D7}\($0.height), " } ?? "") + turned
        rows.append(
          (
            "\(title), video",
            "\(codec)\(size)\(NumberFormatting.digits(video.fps)) fps, \(NumberFormatting.bitrate(video.bitrate))"
          ))
      }
      if let audio = stream.audio {
        let codec = stream.codecs?.audio.map { "\($0.title), " } ?? ""
        rows.append(
          (
            "\(title), audio",
            "\(codec)\(NumberFormatting.fixed(audio.level, 0)) dB, \(NumberFormatting.bitrate(audio.bitrate))"
          ))
      }
      guard rows.isEmpty else { return rows }
      return [(title, "no media was decoded" + (stream.codecTitle.map { " of \($0)" } ?? ""))]
    }
  }
}

extension ReportSection {
  /// The name of the peer and, for a result of a further stream, that of the stream.
  func name(of result: RuleResult) -> String {
    guard let peer, let stream = result.stream else { return name }
    return "\(name), \(peer.title(ofStream: stream))"
  }
}

extension CheckComparison.Change {
  /// The measurement as a rule names it: with the number of the stream before it, unless it is the first one.
  var name: String { stream.map { "\($0).\(measurement)" } ?? measurement }
}

extension PeerReport {
  /// How frames of the first video are turned before they are shown; nil if they are not.
  fileprivate var orientationTitle: String? { video?.orientationTitle }
}

extension VideoReport {
  /// How frames are turned before they are shown, for example `turned by 90° from 0:00`; nil if they always were upright.
  var orientationTitle: String? {
    guard let orientations, !orientations.isEmpty else { return nil }
    let shown = orientations.prefix(8).map { "\($0) from \(NumberFormatting.time($0.time))" }
    return shown.joined(separator: "; ") + (orientations.count > 8 ? "; \u{2026}" : "")
  }
}
