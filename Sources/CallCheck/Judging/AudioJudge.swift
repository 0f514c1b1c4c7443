import Codecs
import Media
import MediaWorker
import Pattern

/// Decodes a peer's audio, conceals lost packets as a player does, and measures the result.
struct AudioJudge {
  /// The result of processing one packet.
  struct Outcome {
    /// The mean square of its samples; nil if it could not be decoded.
    var energy: Double?
    /// Marks of the pattern that the packet completed.
    var marks: [Mark] = []
  }

  /// An audio mark of the pattern.
  struct Mark {
    /// The second that the mark encodes, modulo 256.
    let second: UInt8
    /// When the mark could be heard, and when its packet arrived.
    let heard: Double
    let arrived: Double
    /// The position of the mark on the track's timeline.
    let time: MediaTime
  }

  /// The longest part of a gap that is concealed, in ticks. Players do not conceal more, either.
  private static let maximumConcealment = 9_600
  /// A longer gap is a jump of the sender's timestamps.
  private static let maximumGap: Int64 = 480_000
  /// Audio that is later than this, in seconds, has caused a gap in any player.
  static let latest = 0.2
  /// A sender's clock that skips no more than this, in seconds, is unsteady; the sender did not leave out audio.
  private static let unsteadiness = 0.06

  private struct Packet {
    let ticks: Int64
    let length: Int
    let heard: Double
    let arrived: Double

    var end: Int64 { ticks &+ Int64(length) }
    var heardEnd: Double { heard + Double(length) / Double(AudioSamples.rate) }
  }

  private let worker: MediaWorker
  private var decoders = DecodersByCodec<AudioDecoder>()
  /// The rate of the track's clock, in Hz.
  private var rate = Int32(AudioSamples.rate)
  private var reader = PatternAudioReader()
  private var packets: [Packet] = []
  private var hasUndecodable = false
  private(set) var meter = AudioLevelMeter()
  private(set) var gaps = IntervalLog()
  private(set) var decoded = 0
  private(set) var decodeErrors = 0
  /// Why the first packet that could not be decoded could not be, as a clause; nil if that is not known.
  private(set) var decodeFailure: String?
  /// Packets that were not decoded, because no process decodes them.
  private(set) var unverified = 0
  /// Why the first of them was not, as a clause; nil if there was none.
  private(set) var unverifiedReason: String?
  private(set) var channels = 0
  /// The concealed seconds.
  private(set) var concealed = 0.0
  private(set) var marksFound = 0
  private(set) var marksExpected = 0
  private var lastMark: Int64?
  private var standstills = StandstillClassifier(.audio)

  /// - Parameter worker: decodes for the peer what is not decoded in this process.
  init(worker: MediaWorker) { self.worker = worker }

  /// The end of the last decoded packet.
  var heardEnd: Double? { packets.last?.heardEnd }

  mutating func receive(_ frame: EncodedFrame, heard: Double, arrived: Double) -> Outcome {
    var outcome = Outcome()
    guard let header = frame.header.audio, let decoder = readyDecoder(of: frame.codec) else {
      decodeErrors += 1
      hasUndecodable = true
      return outcome
    }
    rate = frame.time.rate
    let start = Self.ticks(of: frame.time)
    var pieces: [(ticks: Int64, audio: AudioSamples)] = []
    standstills.note(frame.time, at: heard)
    if let last = packets.last { pieces = fill(from: last, to: frame, header: header, heard: heard, with: decoder) }
    let audio: AudioSamples
    do throws(CodecError) {
      audio = try decoder.decode(frame.payload)
    } catch {
      if error.isUnavailable {
        unverified += 1
        unverifiedReason = unverifiedReason ?? error.reason
      } else {
        decodeErrors += 1
        decodeFailure = decodeFailure ?? error.reason
        hasUndecodable = true
      }
      return outcome
    }
    decoded += 1
    hasUndecodable = false
    channels = max(channels, header.channels)
    if packets.count == 256 { packets.removeFirst(128) }
    packets.append(Packet(ticks: start, length: audio.count, heard: heard, arrived: arrived))
    outcome.energy = meter.add(audio, at: heard)
    pieces.append((start, audio))
    for piece in pieces { outcome.marks += marks(in: piece.audio, at: piece.ticks) }
    return outcome
  }

  /// Returns a time in ticks of 48 kHz.
  private static func ticks(of time: MediaTime) -> Int64 {
    convert(time.ticks, from: Int64(time.rate), to: Int64(AudioSamples.rate))
  }

  /// - Parameter rate: at least 1, as `other`.
  private static func convert(_ ticks: Int64, from rate: Int64, to other: Int64) -> Int64 {
    if rate == other { return ticks }
    let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: rate)
    return seconds &* other &+ rest * other / rate
  }

  /// Releases the decoder of a peer that is gone.
  mutating func release() { decoders = DecodersByCodec() }

  private mutating func readyDecoder(of codec: Codec) -> AudioDecoder? {
    try? decoders.decoder(of: codec, isStart: true) { () throws(CodecError) in try AudioDecoder(codec, in: worker) }
  }

  /// Accounts for the interval between two packets.
  ///
  /// - Returns: the concealed audio.
  private mutating func fill(
    from last: Packet, to frame: EncodedFrame, header: AudioHeader, heard: Double, with decoder: AudioDecoder
  ) -> [(ticks: Int64, audio: AudioSamples)] {
    let wait = heard - last.heardEnd
    let (gapTicks, overflow) = Self.ticks(of: frame.time).subtractingReportingOverflow(last.end)
    guard !overflow, gapTicks >= 0, gapTicks <= Self.maximumGap else {
      // The timestamps restarted: only the arrivals say how long nothing was heard.
      if wait > AudioLevelMeter.minimumSilence { meter.addNothing(for: wait, at: last.heardEnd) }
      return []
    }
    let missing = Double(gapTicks) / Double(AudioSamples.rate)
    if gapTicks < Int64(AudioSamples.rate / 400) {
      explain(wait, at: last.heardEnd, from: last, to: frame)
      return []
    }
    let lost = lostTicks(of: gapTicks, packet: last.length, gap: frame.gap)
    guard lost > 0 else {
      meter.addNothing(for: missing, at: last.heardEnd)
      if missing <= Self.unsteadiness {
        explain(wait - missing, at: last.heardEnd + missing, from: last, to: frame)
      }
      return []
    }
    let length = Double(lost) / Double(AudioSamples.rate)
    let reason: AudioGapReason = hasUndecodable ? .undecodable : .lost
    gaps.add(start: last.heardEnd, duration: length, reason: reason.rawValue)
    let made = conceal(lost, before: frame, header: header, unit: last.length, with: decoder)
    var ticks = last.end
    var pieces: [(ticks: Int64, audio: AudioSamples)] = []
    for audio in made {
      meter.add(audio, at: last.heardEnd + Double(ticks - last.end) / Double(AudioSamples.rate))
      pieces.append((ticks, audio))
      ticks += Int64(audio.count)
    }
    let filled = Double(ticks - last.end) / Double(AudioSamples.rate)
    concealed += filled
    if missing - filled > 0.001 { meter.addNothing(for: missing - filled, at: last.heardEnd + filled) }
    return pieces
  }

  /// Accounts for an interval without audio between two packets whose timestamps continue.
  private mutating func explain(_ wait: Double, at start: Double, from last: Packet, to frame: EncodedFrame) {
    guard wait > Self.latest else { return }
    switch frame.gap?.reason {
    case nil, .dtx?:
      let number = standstills.add(
        start: start, duration: wait, previousArrived: last.arrived, next: frame.time, standstill: nil)
      meter.addUndecided(.init(number: number, start: start, duration: wait))
    case .senderPaused?, .muted?, .streamEnded?, .reconnect?, .paused?:
      // The sender stops its clock while it sends nothing.
      standstills.add(
        start: start, duration: wait, previousArrived: last.arrived, next: frame.time, standstill: wait)
      meter.addNothing(for: wait, at: start)
    case .lost?, .recoveredLate?, .senderDiscarded?, .waitingForKeyframe?, .diskStalled?, .overloaded?, .memoryFull?:
      gaps.add(start: start, duration: wait, reason: AudioGapReason.late.rawValue)
    }
  }

  /// Whether the cause of an interval without audio is not yet decided.
  var hasUndecidedWaits: Bool { standstills.hasUndecided }

  /// Decides the causes of intervals without audio, as far as they are known.
  ///
  /// - Parameter clock: the sender's clock, by the reports and packets until now.
  mutating func settle(at time: Double, isFinal: Bool = false, by clock: SenderClock) {
    for wait in standstills.settle(at: time, isFinal: isFinal, by: clock) {
      let silent = wait.standstill ?? 0
      meter.decide(wait.number, silent: silent)
      gaps.add(start: wait.start + silent, duration: wait.duration - silent, reason: AudioGapReason.late.rawValue)
    }
  }

  /// Returns how many ticks of a gap were sent and lost, rather than never sent.
  private func lostTicks(of gapTicks: Int64, packet: Int, gap: MediaGap?) -> Int64 {
    if hasUndecodable { return gapTicks }
    guard let gap else { return 0 }
    if gap.packetsLost > 0 { return min(gapTicks, Int64(clamping: gap.packetsLost) &* Int64(packet)) }
    return gap.reason == .lost || gap.reason.isOfRecorder ? gapTicks : 0
  }

  private mutating func conceal(
    _ ticks: Int64, before next: EncodedFrame, header: AudioHeader, unit: Int, with decoder: AudioDecoder
  ) -> [AudioSamples] {
    // The decoder conceals in steps of 2.5 ms and in packets of at most 120 ms.
    let whole = min(Int(clamping: ticks), Self.maximumConcealment) / 120 * 120
    let unit = min(max(120, unit / 120 * 120), decoder.maximumPacketSamples)
    let isRecovered = header.carriesCopy && Int64(whole) == ticks / 120 * 120 && whole >= unit
    var left = isRecovered ? whole - unit : whole
    var made: [AudioSamples] = []
    while left > 0, let audio = try? decoder.conceal(duration: min(unit, left)), audio.count > 0 {
      made.append(audio)
      left -= audio.count
    }
    if isRecovered, let audio = try? decoder.recover(duration: unit, before: next.payload) { made.append(audio) }
    return made
  }

  // MARK: The pattern

  private mutating func marks(in audio: AudioSamples, at ticks: Int64) -> [Mark] {
    position(reader.read(audio, at: ticks))
  }

  private mutating func position(_ found: [DetectedMark]) -> [Mark] {
    found.compactMap { mark in
      marksFound += 1
      let seconds = lastMark.map { Int(((Double(mark.time - $0)) / Double(AudioSamples.rate)).rounded()) } ?? 1
      marksExpected += (1...60).contains(seconds) ? seconds : 1
      lastMark = mark.time
      guard let packet = packets.last(where: { $0.ticks <= mark.time }) else { return nil }
      let offset = Double(mark.time &- packet.ticks) / Double(AudioSamples.rate)
      return Mark(
        second: mark.second, heard: packet.heard + offset, arrived: packet.arrived + offset,
        time: MediaTime(ticks: Self.convert(mark.time, from: Int64(AudioSamples.rate), to: Int64(rate)), rate: rate))
    }
  }

  /// Records that audio continued until a time although none of it is available.
  mutating func markMissing(until time: Double) {
    guard let heardEnd, time > heardEnd else { return }
    gaps.add(start: heardEnd, duration: time - heardEnd, reason: AudioGapReason.lost.rawValue)
  }

  /// Accounts for the end of the stream. If packets follow, nothing between is measured.
  mutating func end(at time: Double, clock: SenderClock) -> [Mark] {
    settle(at: time, isFinal: true, by: clock)
    if let heardEnd, time > heardEnd { meter.addNothing(for: time - heardEnd, at: heardEnd) }
    meter.end()
    let marks = position(reader.finish())
    reader = PatternAudioReader()
    lastMark = nil
    packets = []
    return marks
  }
}
