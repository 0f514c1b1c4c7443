package import Media

/// Calls by name, for tests and for programs that compose them.
extension RecordedCall {
  package static let scenarios: [String: @Sendable (_ seconds: Double) -> RecordedCall] = [
    "visits": { visits($0) }, "hours": { hours($0) }, "clock": { clockThatIsSet($0) },
    "drift": { drift($0) }, "screen": { screen($0) },
    "gaps": { gaps($0) }, "changes": { changes($0) }, "hostile": { hostile($0) }, "crowd": { _ in crowd() },
    "chorus": { chorus($0) }, "bursts": { bursts($0) }, "speakers": { speakers($0) },
    "four": { cameras(4, seconds: $0) },
    "nine": { cameras(9, seconds: $0) }, "sixteen": { fewCameras(of: 16, seconds: $0) },
    "large25": { large(25, seconds: $0) },
  ]

  static let small = VideoSize(width: 320, height: 240)

  /// How much the clock of the user with this number, from 0, is ahead: neither marks nor the seconds that they say are confused.
  package static func shift(_ number: Int) -> Int { 10_250 * number }

  /// Three users who come and go; one comes twice.
  package static func visits(_ seconds: Double = 20) -> RecordedCall {
    let (part, end) = (seconds / 20, seconds)
    return RecordedCall([
      RecordedUser("a1", name: "Alice", 0..<end, pattern: 1),
      RecordedUser("b1", name: "Bob", 3.35 * part..<12.2 * part, pattern: 2, shift: shift(1)),
      RecordedUser("c1", name: "Carol", 6.61 * part..<end, pattern: 3, shift: shift(2)),
      RecordedUser("b2", name: "Bob", 14.02 * part..<18.53 * part, pattern: 2, shift: shift(1)),
    ])
  }

  /// Two users for hours. In the middle there is a frame each second only.
  package static func hours(_ seconds: Double = 7_200) -> RecordedCall {
    let video = SentVideo(bitrate: 300_000, slow: 20..<max(20, seconds - 20))
    return RecordedCall([
      RecordedUser("a1", name: "Alice", 0..<seconds, camera: video, pattern: 1),
      RecordedUser("b1", name: "Bob", 0.5..<seconds, camera: video, pattern: 2, shift: shift(1)),
    ])
  }

  /// Two users whose clocks differ by so many parts in a million. In the middle there is a frame each second only.
  package static func drift(_ seconds: Double = 600, difference: Double = 80) -> RecordedCall {
    var call = hours(seconds)
    call.users[0].speed = 1 + difference / 2e6
    call.users[1].speed = 1 - difference / 2e6
    return call
  }

  /// The wall clock of the recorder is set by 90 s before the second user comes.
  package static func clockThatIsSet(_ seconds: Double = 10) -> RecordedCall {
    RecordedCall([
      RecordedUser("a1", name: "Alice", 0..<seconds, pattern: 1),
      RecordedUser("b1", name: "Bob", 3..<seconds, pattern: 2, shift: shift(1), wallClockShift: 90),
    ])
  }

  /// The second user shares a screen for a third of the call.
  package static func screen(_ seconds: Double = 12) -> RecordedCall {
    let screen = SentVideo(
      size: VideoSize(width: 640, height: 360), framesPerSecond: 10, span: seconds / 3..<seconds * 2 / 3)
    return RecordedCall([
      RecordedUser("a1", name: "Alice", 0..<seconds, pattern: 1),
      RecordedUser("b1", name: "Bob", 0.4..<seconds, screen: screen, pattern: 2, shift: shift(1)),
      RecordedUser("c1", name: "Carol", 0.7..<seconds, pattern: 3, shift: shift(2)),
    ])
  }

  /// The reasons that leave a gap, one user each, in the order of their names; the gap is from 3 s to 7 s.
  package static let gapReasons: [MediaGap.Reason] = [
    .lost, .waitingForKeyframe, .senderPaused, .muted, .reconnect, .overloaded, .diskStalled,
  ]

  /// A user for each reason of a gap, one without video, one without audio, and one without a gap.
  package static func gaps(_ seconds: Double = 10) -> RecordedCall {
    var users = gapReasons.enumerated().map { index, reason in
      let gap = [SentGap(reason, 3..<7)]
      // Only the video of a user who mutes a camera stops.
      let isOfBoth = reason == .reconnect || reason == .lost
      return RecordedUser(
        "gap-\(index)", name: reason.rawValue, 0..<seconds, camera: SentVideo(gaps: gap),
        microphone: SentAudio(isPattern: index < 4, gaps: isOfBoth ? gap : []), pattern: UInt16(index + 1),
        shift: index < 4 ? shift(index) : 0)
    }
    let quiet = SentAudio(isPattern: false)
    users.append(
      RecordedUser(
        "dtx", 0..<seconds, microphone: SentAudio(isPattern: false, gaps: [SentGap(.dtx, 3..<7)]), pattern: 20))
    users.append(RecordedUser("no-video", name: "سلمى العربي", 0..<seconds, camera: nil, microphone: quiet))
    users.append(RecordedUser("no-audio", 0..<seconds, microphone: nil, pattern: 21))
    users.append(RecordedUser("whole", 0..<seconds, microphone: quiet, pattern: 22))
    return RecordedCall(users)
  }

  /// Users whose size, orientation or codec changes, with AV1 and H.265 beside other codecs, and one of each other codec.
  package static func changes(_ seconds: Double = 12) -> RecordedCall {
    let portrait = VideoSize(width: 240, height: 320)
    let wide = VideoSize(width: 640, height: 360)
    return RecordedCall([
      RecordedUser(
        "sizes", 0..<seconds,
        camera: SentVideo(changes: [
          .init(at: seconds / 3, size: wide), .init(at: seconds * 2 / 3, size: VideoSize(width: 176, height: 144)),
        ]), pattern: 1),
      RecordedUser(
        "rotated", 0..<seconds, camera: SentVideo(changes: [.init(at: seconds / 2, size: portrait)]), pattern: 2),
      RecordedUser(
        "codecs", 0..<seconds, camera: SentVideo(changes: [.init(at: seconds / 2, codec: .h264, size: small)]),
        pattern: 3),
      RecordedUser(
        "turned", 0..<seconds,
        camera: SentVideo(changes: [
          .init(at: seconds / 3, size: small, orientation: VideoOrientation(quarterTurns: 1)),
          .init(at: seconds * 2 / 3, size: small, orientation: VideoOrientation(quarterTurns: 3, isMirrored: true)),
        ]), pattern: 7),
      RecordedUser(
        "h264", 0..<seconds, camera: SentVideo(.h264, changes: [.init(at: seconds / 2, codec: .h264, size: wide)]),
        microphone: SentAudio(.g722), pattern: 4, shift: shift(1)),
      RecordedUser(
        "vp9", 0..<seconds, camera: SentVideo(.vp9), microphone: SentAudio(.pcmu), pattern: 5, shift: shift(2)),
      RecordedUser(
        "stereo", 0..<seconds, camera: SentVideo(framesPerSecond: 15),
        microphone: SentAudio(.opus, channels: 2), pattern: 6, shift: shift(3)),
      RecordedUser(
        "av1", 0..<seconds,
        camera: SentVideo(changes: [
          .init(at: seconds / 3, codec: .av1, size: small), .init(at: seconds * 2 / 3, codec: .av1, size: wide),
        ]), pattern: 8),
      RecordedUser(
        "h265", 0..<seconds, camera: SentVideo(changes: [.init(at: seconds / 2, codec: .h265, size: small)]),
        pattern: 9),
    ])
  }

  /// A user whose video has B-frames, one who comes later and goes earlier, and one whose video has none.
  package static func reordering(_ seconds: Double = 8) -> RecordedCall {
    RecordedCall([
      RecordedUser(
        "all", 0..<seconds, camera: SentVideo(.h264, keyframeDistance: 60, reorders: true), pattern: 1),
      RecordedUser(
        "late", 1.1..<seconds - 1, camera: SentVideo(.h264, keyframeDistance: 30, reorders: true), pattern: 2,
        shift: shift(1)),
      RecordedUser("none", 0.2..<seconds, camera: SentVideo(.h264), pattern: 3, shift: shift(2)),
    ])
  }

  /// A user whose H.264 is damaged, one with absurd sizes, one with a long name full of direction marks, and an honest one.
  package static func hostile(_ seconds: Double = 10) -> RecordedCall {
    let absurd = [(16, 16), (4_096, 16), (16, 4_096), (2, 2), (320, 240)].enumerated().map { index, size in
      SentVideo.Change(at: seconds * Double(index + 1) / 6, size: VideoSize(width: size.0, height: size.1))
    }
    let name = String(repeating: "\u{202E}<b>&amp;\u{1F469}\u{200D}", count: 200)
    return RecordedCall([
      RecordedUser("honest", name: "Honest", 0..<seconds, pattern: 1),
      RecordedUser(
        "broken", name: "Broken", 0.2..<seconds,
        camera: SentVideo(.h264, damaged: 1..<seconds * 3 / 4, keyframeDistance: 30), pattern: 2),
      RecordedUser("absurd", name: "Absurd", 0.4..<seconds, camera: SentVideo(changes: absurd), pattern: 3),
      RecordedUser("named", name: name, 0.6..<seconds, pattern: 4),
    ])
  }

  /// 200 users who stay for a second each, 10 at a time, beside one who stays.
  package static func crowd(_ count: Int = 199) -> RecordedCall {
    let seconds = Double(count) / 10 + 2
    var users = [RecordedUser("honest", name: "Honest", 0..<seconds, pattern: 1)]
    for number in 0..<count {
      let begin = 0.5 + Double(number) / 10
      users.append(
        RecordedUser(
          "guest-\(number)", begin..<begin + 1, camera: SentVideo(size: VideoSize(width: 160, height: 120)),
          microphone: SentAudio(isPattern: false), pattern: UInt16(number + 2)))
    }
    return RecordedCall(users)
  }

  /// Four users without video who sound together at full scale, one after the other begins a second later.
  package static func chorus(_ seconds: Double = 8) -> RecordedCall {
    let users = (0..<4).map { number in
      let tone = SentAudio.Tone(
        [220, 331, 437, 563][number], amplitude: 0.98, spans: [Double(number) + 1..<seconds - 1])
      return RecordedUser(
        "voice-\(number)", 0..<seconds, camera: nil,
        microphone: SentAudio(bitrate: 128_000, isPattern: false, tones: [tone]))
    }
    return RecordedCall(users)
  }

  /// One user whose tone is steady, and three who sound at full scale together for 200 ms each second.
  package static func bursts(_ seconds: Double = 8) -> RecordedCall {
    func user(_ id: String, _ tone: SentAudio.Tone) -> RecordedUser {
      RecordedUser(
        id, 0..<seconds, camera: nil, microphone: SentAudio(bitrate: 128_000, isPattern: false, tones: [tone]))
    }
    let bursts = stride(from: 1.0, to: seconds - 0.5, by: 1).map { $0..<$0 + 0.2 }
    return RecordedCall([
      user("steady", .init(1_000, amplitude: 0.2, spans: [0..<seconds])),
      user("burst-1", .init(230, amplitude: 0.9, spans: bursts)),
      user("burst-2", .init(310, amplitude: 0.9, spans: bursts)),
      user("burst-3", .init(410, amplitude: 0.9, spans: bursts)),
    ])
  }

  /// Four users of whom one after the other speaks for 4 s.
  package static func speakers(_ seconds: Double = 20) -> RecordedCall {
    let users = (0..<4).map { number in
      let turns = stride(from: 2 + 4 * Double(number), to: seconds, by: 16).map { $0..<min($0 + 4, seconds) }
      return RecordedUser(
        "s\(number)", name: "Speaker \(number)", 0..<seconds,
        microphone: SentAudio(isPattern: false, tones: [.init(300 + 50 * Double(number), spans: turns)]),
        pattern: UInt16(number + 1))
    }
    return RecordedCall(users)
  }

  /// Users with cameras of 640x480 at 30 frames a second and 1 Mb/s.
  package static func cameras(_ count: Int, seconds: Double = 60) -> RecordedCall {
    let video = SentVideo(size: VideoSize(width: 640, height: 480), bitrate: 1_000_000)
    return RecordedCall(
      (0..<count).map { RecordedUser("user-\($0)", name: "User \($0 + 1)", 0..<seconds, camera: video, pattern: 1) })
  }

  /// Four users with cameras among some without, who send silence.
  package static func fewCameras(of count: Int, seconds: Double = 60) -> RecordedCall {
    var call = cameras(4, seconds: seconds)
    for number in 4..<max(4, count) {
      call.users.append(
        RecordedUser(
          "user-\(number)", name: "User \(number + 1)", 0..<seconds, camera: nil,
          microphone: SentAudio(isPattern: false)))
    }
    return call
  }

  /// Users with cameras of 1280x720.
  package static func large(_ count: Int, seconds: Double = 20) -> RecordedCall {
    let video = SentVideo(size: VideoSize(width: 1_280, height: 720), bitrate: 2_000_000)
    return RecordedCall(
      (0..<count).map { RecordedUser("user-\($0)", name: "User \($0 + 1)", 0..<seconds, camera: video, pattern: 1) })
  }
}
