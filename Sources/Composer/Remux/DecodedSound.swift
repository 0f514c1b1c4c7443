import FileSource
import MediaMessages
import MediaWorker

/// The decoded sound of a recording from the file's zero on, at 48 kHz: without holes, so that what has no times, such as samples, is as
/// long as the recording.
final class DecodedSound {
  /// Times of a file are rounded, and the clocks of senders differ: what is nearer follows at once. 10 ms.
  private static let tolerance: Int64 = 480
  /// So much silence is returned at once, in samples.
  private static let silence: Int64 = 48_000

  let channels: Int
  private let session: MediaFileSession
  private let path: String
  /// The samples of each channel so far.
  private var position: Int64 = 0
  private var gap: Int64 = 0
  private var waiting: [Float] = []

  init(_ file: OpenFile, track index: Int, path: String) throws(ComposerFailure) {
    session = try PacketReader.session(file, path)
    self.path = path
    guard index < session.description.tracks.count else { throw .input("\(path) has changed while it was read.") }
    channels = min(2, max(1, session.description.tracks[index].channels))
    let session = session
    try PacketReader.asking(path) { () throws(MediaWorkerError) in try session.select(index) }
  }

  private enum Decoded {
    case samples([Float], time: Int64?)
    case nothing
    case end
  }

  /// Returns the next samples, interleaved; nil at the end.
  func next() throws(ComposerFailure) -> [Float]? {
    while true {
      if gap > 0 {
        let count = min(gap, Self.silence)
        gap -= count
        position += count
        return [Float](repeating: 0, count: Int(count) * channels)
      }
      if !waiting.isEmpty {
        defer { waiting = [] }
        position += Int64(waiting.count / channels)
        return waiting
      }
      switch try decode() {
      case .end: return nil
      case .nothing: continue
      case .samples(let samples, let time): place(samples, time: time)
      }
    }
  }

  private func place(_ samples: [Float], time: Int64?) {
    var samples = samples
    if let time {
      // Rounded down, also before the zero.
      let unit = Int64(MediaLimits.timeRate / MediaLimits.fileAudioRate)
      let start = time >= 0 ? time / unit : -((unit - 1 - time) / unit)
      if start - position > Self.tolerance {
        gap = start - position
      } else if position - start > Self.tolerance || start < 0 {
        samples.removeFirst(Int(min(position - start, Int64(samples.count / channels))) * channels)
      }
    }
    waiting = samples
  }

  private func decode() throws(ComposerFailure) -> Decoded {
    let (session, channels) = (session, channels)
    return try PacketReader.asking(path) { () throws(MediaWorkerError) in
      try session.decode { response, memory in
        switch response {
        case .audio(let audio):
          let count = audio.count * audio.channels
          guard count * MemoryLayout<Float>.stride <= memory.count, audio.channels == channels else { return nil }
          let samples = UnsafeRawBufferPointer(rebasing: memory[..<(count * MemoryLayout<Float>.stride)])
          return .samples(Array(samples.bindMemory(to: Float.self)), time: audio.time)
        case .undecodable: return .nothing
        case .end: return .end
        case .described, .packets, .video: return nil
        }
      }
    }
  }
}

/// The sound of a recording, decoded and encoded again.
final class EncodedSound: PacketSource {
  let track: ContainerSettings.Track
  private let decoded: DecodedSound
  private let encoder: SoundEncoder
  private let path: String
  private var waiting: [EncodedPacket] = []
  private var isAtEnd = false

  init(_ decoded: DecodedSound, _ codec: TrackCodec, path: String) throws(ComposerFailure) {
    guard let settings = SoundEncoderSettings(codec: codec, channels: decoded.channels) else {
      throw .usage("\(codec.title) is not encoded.")
    }
    self.decoded = decoded
    self.path = path
    encoder = try PacketReader.asking(path) { () throws(MediaWorkerError) in try SoundEncoder(settings) }
    track = encoder.track
  }

  func next() throws(ComposerFailure) -> EncodedPacket? {
    while waiting.isEmpty, !isAtEnd {
      var samples: [Float] = []
      while samples.count < 48_000 * decoded.channels {
        guard let more = try decoded.next() else {
          isAtEnd = true
          break
        }
        samples += more
      }
      let (encoder, isAtEnd) = (encoder, isAtEnd)
      waiting = try PacketReader.asking(path) { () throws(MediaWorkerError) in
        let packets = try encoder.encode(samples)
        return isAtEnd ? packets + (try encoder.finish()) : packets
      }
    }
    return waiting.isEmpty ? nil : waiting.removeFirst()
  }
}

/// The sound of a recording as samples of 16 bits.
final class SampledSound: PacketSource {
  let track: ContainerSettings.Track
  private let decoded: DecodedSound
  private var position: Int64 = 0

  init(_ decoded: DecodedSound, _ codec: TrackCodec) {
    self.decoded = decoded
    track = .audio(codec, channels: decoded.channels, frame: 0, delay: 0, privateData: [])
  }

  func next() throws(ComposerFailure) -> EncodedPacket? {
    guard let samples = try decoded.next() else { return nil }
    let count = Int64(samples.count / decoded.channels)
    defer { position += count }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(2 * samples.count)
    for sample in samples {
      let value = Int16(min(32_767, max(-32_768, (sample.isFinite ? sample * 32_768 : 0).rounded())))
      bytes.append(UInt8(truncatingIfNeeded: value))
      bytes.append(UInt8(truncatingIfNeeded: value >> 8))
    }
    return EncodedPacket(pts: position, dts: position, duration: count, isKeyframe: true, bytes: bytes)
  }
}
