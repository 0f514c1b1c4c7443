import CallCheck

extension PeerReport {
  /// The peer as its first stream, and each further stream as a peer with the media of that stream.
  var allStreams: [PeerReport] { [self] + (streams ?? []).compactMap { stream($0.number) } }

  /// The name of one of the streams, for example "stream 2 (slides)".
  func title(ofStream number: Int) -> String {
    streams?.first { $0.number == number }?.title ?? "stream \(number)"
  }

  /// A row for each track of each stream, for example "stream 2 (slides), video" and "1280\u{D7}720, 5 fps, 212 kbit/s"; none if the
  /// peer has one stream only.
  var trackRows: [(name: String, value: String)] {
    if streams == nil { return [] }
    return allStreams.flatMap { stream in
      let title = title(ofStream: stream.streamNumber)
      var rows: [(name: String, value: String)] = []
      if let video = stream.video {
        let size = video.sizes.last.map { "\($0.width)\u{D7}\($0.height), " } ?? ""
        rows.append(
          (
            "\(title), video",
            "\(size)\(NumberFormatting.digits(video.fps)) fps, \(NumberFormatting.bitrate(video.bitrate))"
          ))
      }
      if let audio = stream.audio {
        rows.append(
          (
            "\(title), audio",
            "\(NumberFormatting.fixed(audio.level, 0)) dB, \(NumberFormatting.bitrate(audio.bitrate))"
          ))
      }
      return rows.isEmpty ? [(title, "no media was decoded")] : rows
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
