internal import Codecs
internal import Composition
internal import FileSource
internal import Inspection
internal import Media
internal import MediaWorker

/// Decodes the sound of one recording, through all its files: every packet at its sample, two channels at 48 kHz.
///
/// A packet that cannot be decoded is silence. A gap of the recording has no samples.
final class SoundReader {
  /// The part of the recording that is heard, in samples from the composition's zero.
  let range: Range<Int64>
  private let offset: Int64
  private let track: RecordedTrackReader
  /// Whether the manifest lists as many gaps as it can, so that it does not tell in which silence a packet lies.
  private let isGapListFull: Bool
  /// The frame after the one that is decoded.
  private var ahead: RecordedFrame?
  private var hasRead = false
  private let worker: () -> MediaWorker
  private var decoder: AudioDecoder?
  private var placement = SoundPlacement()
  /// The sample at which the next packet begins if there is no gap.
  private var expected: Int64?
  /// A run that follows the one that was returned last.
  private var waiting: SoundRun?
  private var hasEnded = false
  /// Why nothing can be decoded, whatever the packets are: then nothing is composed.
  private(set) var failure: ComposerFailure?
  private var decodingWorker: MediaWorker?
  /// The manifest or the first file, for sentences.
  private let name: String

  private(set) var packets = 0
  private(set) var undecodedPackets = 0
  /// Files that could not be read, or not to their end, a sentence each.
  private(set) var problems: [String] = []

  /// What is decoded before the part that is heard, so that a decoder has its state: 1 s, in samples.
  private static let preroll = Int64(SoundClock.rate)
  /// A file that fails in more places than this is given up.
  private static let maximumProblems = 20

  /// Opens the files and reads them through once.
  ///
  /// - Parameter worker: returns the worker that decodes what is not decoded in this process.
  init(_ recording: PlannedRecording, worker: @escaping () -> MediaWorker) {
    range = SoundClock.sample(at: recording.range.lowerBound)..<SoundClock.sample(at: recording.range.upperBound)
    offset = recording.offset
    self.worker = worker
    let recorded = recording.recording
    name = RecordedName.shown(recorded.manifest?.path ?? recorded.files.first?.path ?? "")
    var problems: [String] = []
    let opened = RecordedTrack.opening(.audio, of: recorded, takesWhatIsLeft: true, problems: &problems)
    track = RecordedTrackReader(opened, isForListening: true)
    isGapListFull = opened.gaps.count >= Self.listedGaps
    self.problems = problems
  }

  /// Returns the next sound within the range, which begins where the last one ends or later; nil at the end.
  func next() -> SoundRun? {
    while true {
      if let run = waiting.take() ?? decodeNext() {
        if let heard = run.clamped(to: range) { return heard }
        if run.start >= range.upperBound { hasEnded = true }
      } else if hasEnded {
        return nil
      }
    }
  }

  // MARK: Decoding

  /// Returns the sound of the next packet; nil if it has none, or if there is none.
  private func decodeNext() -> SoundRun? {
    if hasEnded { return nil }
    guard let frame = nextFrame() else { return hasEnded ? drain() : nil }
    packets += 1
    let (time, isTooLate) = offset.addingReportingOverflow(frame.time)
    // A year is longer than any composition.
    guard !isTooLate, abs(time / Int64(MediaTimebase.rate)) < 366 * 86_400 else { return nil }
    let start = SoundClock.sample(at: time)
    let length = Int64(ticks(of: frame))
    guard start + length + Self.preroll >= range.lowerBound else { return nil }
    if start - Self.preroll > range.upperBound {
      hasEnded = true
      return drain()
    }
    var end: SoundRun?
    if decoder?.codec != frame.codec || expected.map({ abs(start - $0) >= Self.gap }) ?? true {
      end = drain()
      prepareDecoder(for: frame.codec)
    }
    let isNoise = isComfortNoise(frame, at: start, length: length)
    expected = start + length
    let run = isNoise ? nil : decode(frame, at: start)
    if let end {
      waiting = run
      return end
    }
    return run
  }

  /// A packet that begins this much after the end of the last one follows a gap, in samples: 2.5 ms.
  private static let gap: Int64 = 120

  private func nextFrame() -> RecordedFrame? {
    if !hasRead { ahead = readFrame() }
    hasRead = true
    guard let frame = ahead else {
      hasEnded = true
      return nil
    }
    ahead = readFrame()
    return frame
  }

  /// Whether a packet lies alone between two silences, as the comfort noise of a sender does that sends no silence (DTX).
  private func isComfortNoise(_ frame: RecordedFrame, at start: Int64, length: Int64) -> Bool {
    guard isGapListFull, let expected, start - expected >= Self.silence else { return false }
    let next = ahead.map { SoundClock.sample(at: offset &+ $0.time) } ?? .max
    return next - start - length >= Self.silence
  }

  /// In samples: 100 ms.
  private static let silence: Int64 = 4_800
  /// How many gaps a manifest lists.
  private static let listedGaps = 1_000

  /// Reads the next frame, also after what cannot be read; nil at the end.
  private func readFrame() -> RecordedFrame? {
    while problems.count <= Self.maximumProblems {
      do throws(MediaFile.ReadError) {
        return try track.next()
      } catch {
        problems.append("Sound of “\(name)” is missing, since a file cannot be read to its end: \(error).")
      }
    }
    return nil
  }

  private func ticks(of frame: RecordedFrame) -> Int {
    let ticks = FrameHeader.ticks(of: frame.content.payload, frame.codec, header: frame.content.header) ?? 0
    return ticks * SoundClock.rate / Int(frame.codec.clockRate)
  }

  /// Makes a decoder where the codec changes. A codec of a lower rate follows silence after each gap; Opus keeps its state, as in a
  /// call.
  private func prepareDecoder(for codec: Codec) {
    if decoder?.codec != codec {
      decodingWorker = codec.needsWorker ? worker() : nil
      decoder = try? AudioDecoder(codec, in: decodingWorker, isPrecise: true)
    } else if decoder?.delay == 0 {
      return
    }
    placement.begin(delay: track.preSkip + Int64(decoder?.delay ?? 0))
  }

  private func decode(_ frame: RecordedFrame, at start: Int64) -> SoundRun? {
    guard let decoder else {
      undecodedPackets += 1
      return nil
    }
    let crashes = decodingWorker?.crashes ?? 0
    do throws(CodecError) {
      return placement.place(try decoder.decode(frame.content.payload).samples, at: start)
    } catch {
      undecodedPackets += 1
      let isCrash = (decodingWorker?.crashes ?? 0) > crashes
      if let reason = DecodingFailure.reason(error, in: decodingWorker, isCrash: isCrash) { failure = reason }
      return nil
    }
  }

  /// Returns what raising the rate still holds.
  private func drain() -> SoundRun? {
    guard let expected, let rest = decoder?.drain() else { return nil }
    return placement.place(rest.samples, at: expected)
  }
}
