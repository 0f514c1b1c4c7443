import Codecs
import FileSource
import Media
import MediaMessages
import MediaWorker

/// The audio of a file that the program `chatbot-media` reads, decodes, mixes to at most two channels and resamples to 48 kHz. Its gaps
/// become silence.
final class WorkerAudio: AudioInput {
  /// 1 or 2.
  let channels: Int
  private let session: MediaFileSession
  private let track: Int
  /// The file's time at which the audio begins, in units of `MediaTimebase.rate`.
  private let start: Int64
  private var queue: AudioQueue
  /// The ticks that were decoded or filled since the start, and those of a gap that are still to be filled.
  private var position: Int64 = 0
  private var silence: Int64 = 0
  private var waiting: Decoded?
  private var isOver = false
  /// The packets in a row that were heard already.
  private var skipped = 0
  private(set) var undecodable = Undecodable()

  /// The smallest deviation from the file's time that is a real gap, or audio that was heard already: 60 ms, in ticks.
  private static let minimumGap: Int64 = 2_880
  /// So many packets in a row that cannot be decoded are taken for the end.
  private static let maximumFailures = 10_000

  private struct Decoded {
    var samples: [Float]
    var time: Int64?
  }

  init(_ file: OpenFile, track: Int, start: Int64, channels: Int) throws(InputError) {
    let session = try refusing { () throws(MediaFile.ReadError) in try WorkerFile.session(file) }
    try asking { () throws(MediaWorkerError) in try session.select(track) }
    self.session = session
    self.track = track
    self.start = start
    self.channels = min(2, max(1, channels))
    queue = AudioQueue(channels: self.channels)
  }

  func read(_ count: Int) throws(InputError) -> AudioSamples {
    while queue.count < count, !isOver { try decodeMore() }
    return queue.take(count)
  }

  func rewind() throws(InputError) {
    let (session, track) = (session, track)
    try asking { () throws(MediaWorkerError) in try session.select(track) }
    queue = AudioQueue(channels: channels)
    position = 0
    silence = 0
    waiting = nil
    isOver = false
  }

  private func decodeMore() throws(InputError) {
    if silence > 0 { return addSilence() }
    guard let decoded = try nextDecoded() else {
      isOver = true
      return
    }
    if let time = decoded.time {
      let deviation = (time &- start) / MediaTimebase.units(perTickOf: .audio) &- position
      if deviation >= Self.minimumGap {
        silence = deviation
        waiting = decoded
        return
      }
      if deviation <= -Self.minimumGap {
        skipped += 1
        if skipped >= Self.maximumFailures { isOver = true }
        return
      }
    }
    skipped = 0
    position += Int64(decoded.samples.count / channels)
    queue.append(samples: decoded.samples)
  }

  /// Fills a gap, one second at a time, so that memory does not grow with it.
  private func addSilence() {
    let ticks = min(silence, Int64(AudioSamples.rate))
    silence -= ticks
    position += ticks
    queue.append(silence: Int(ticks))
  }

  private func nextDecoded() throws(InputError) -> Decoded? {
    if let waiting {
      self.waiting = nil
      return waiting
    }
    for _ in 0..<Self.maximumFailures {
      switch try decode() {
      case .audio(let decoded) where decoded.samples.isEmpty: continue
      case .audio(let decoded): return decoded
      case .undecodable(let time, let reason): undecodable.add(at: max(0, (time ?? start) &- start), reason: reason)
      case .end: return nil
      }
    }
    return nil
  }

  private enum Response {
    case audio(Decoded)
    case undecodable(time: Int64?, reason: String)
    case end
  }

  private func decode() throws(InputError) -> Response {
    let (session, channels) = (session, channels)
    return try asking { () throws(MediaWorkerError) in
      try session.decode { response, memory in
        switch response {
        case .audio(let audio):
          let count = audio.count * channels
          guard audio.channels == channels, count * MemoryLayout<Float>.stride <= memory.count else { return nil }
          let samples = (0..<count).map { index in
            Self.sanitized(memory.load(fromByteOffset: index * MemoryLayout<Float>.stride, as: Float.self))
          }
          return .audio(Decoded(samples: samples, time: audio.time))
        case .undecodable(let time, let reason): return .undecodable(time: time, reason: reason)
        case .end: return .end
        case .described, .packets, .video: return nil
        }
      }
    }
  }

  /// Returns silence for what is no number, and full scale for what is beyond it.
  private static func sanitized(_ sample: Float) -> Float {
    sample.isNaN ? 0 : min(1, max(-1, sample))
  }
}
