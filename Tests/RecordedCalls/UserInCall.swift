import Media

/// A user who is there, and what they send.
final class UserInCall {
  /// Something that a user sends, at a time of the call in seconds.
  struct Event {
    enum Content {
      case piece(SentPiece)
      case report(Codec, ticks: Int64)
      case described(MediaStream)
    }

    var at: Double
    var stream: Int
    var content: Content
  }

  private struct Track {
    let stream: Int
    let source: any SentTrack
    let span: Range<Double>
    /// When the next sender report is sent; there is none before the first frame.
    var nextReport: Double
    var codec: Codec
  }

  /// The media time of the beginning of the call.
  static let firstTicks: Int64 = 1_000_000
  /// Between sender reports, in seconds.
  private static let reportInterval = 5.0

  let id: ParticipantID
  let stay: Range<Double>
  let endReason: RecordedUser.EndReason
  private let clock: SenderClock
  private var tracks: [Track] = []
  private var descriptions: [Event] = []

  init(_ user: RecordedUser, tracks shared: inout SharedTracks) throws {
    id = ParticipantID(user.id)
    stay = user.stay
    endReason = user.endReason
    clock = user.clock
    for (number, video, audio) in [(1, user.camera, user.microphone), (2, user.screen, user.screenAudio)] {
      if let video {
        let camera = try shared.camera(
          video, clock: clock, pattern: user.pattern &+ UInt16(100 * (number - 1)), stay: user.stay)
        add(camera, stream: number, span: video.span)
      }
      if let audio {
        let voice = try PatternVoice(audio, clock: clock, stay: user.stay)
        add(voice, stream: number, span: audio.span)
      }
    }
    if user.screen != nil || user.screenAudio != nil {
      let begin = tracks.filter { $0.stream == 2 }.map(\.span.lowerBound).min() ?? stay.lowerBound
      let end = tracks.filter { $0.stream == 2 }.map(\.span.upperBound).max() ?? stay.upperBound
      describe(1, tracks: [.audio: "0", .video: "1"], at: stay.lowerBound)
      describe(2, content: "slides", tracks: [.audio: "2", .video: "3"], at: begin)
      if end < stay.upperBound { describe(2, content: "slides", at: end) }
    }
  }

  private func add(_ source: any SentTrack, stream: Int, span: Range<Double>?) {
    let span = (span ?? stay).clamped(to: stay)
    tracks.append(
      Track(stream: stream, source: source, span: span, nextReport: span.lowerBound + 0.3, codec: source.codec))
  }

  private func describe(_ stream: Int, content: String? = nil, tracks: [MediaKind: String] = [:], at time: Double) {
    let description = MediaStream(owner: id, number: stream, id: "stream-\(stream)", content: content, tracks: tracks)
    descriptions.append(Event(at: time, stream: stream, content: .described(description)))
  }

  /// Returns what is sent before a time of the call, in seconds, and was not returned before; in the order of time within a track.
  func events(before end: Double) throws -> [Event] {
    var events = descriptions.filter { $0.at < end }
    descriptions.removeAll { $0.at < end }
    for index in tracks.indices {
      let pieces = try tracks[index].source.pieces(before: end)
      if let last = pieces.last { tracks[index].codec = last.codec }
      events += pieces.map { Event(at: $0.time, stream: tracks[index].stream, content: .piece($0)) }
      while tracks[index].nextReport < min(end, tracks[index].span.upperBound) {
        let time = tracks[index].nextReport
        let ticks = Int64((clock.reading(at: time) * Double(tracks[index].codec.clockRate)).rounded())
        events.append(
          Event(at: time, stream: tracks[index].stream, content: .report(tracks[index].codec, ticks: ticks)))
        tracks[index].nextReport += Self.reportInterval
      }
    }
    return events
  }
}
