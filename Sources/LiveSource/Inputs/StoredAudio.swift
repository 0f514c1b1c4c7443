import Codecs
import FileSource
import Media
import NIOCore

/// The decoded audio of a WebM or Ogg file, Opus or Vorbis. Its gaps become silence.
final class StoredAudio: AudioInput {
  private let reader: TrackReader
  private let track: StoredTrack
  private var decoder: any AudioDecoding
  private var queue: AudioQueue
  /// The ticks decoded or filled since the track's first frame, and the ticks still to be discarded at the start.
  private var position: Int64 = 0
  private var preSkip: Int64
  private var first: Int64?
  /// The ticks of a gap still to be filled, and the packet after it.
  private var silence: Int64 = 0
  private var waiting: FileFrame?
  private var isOver = false
  private(set) var undecodable = Undecodable()

  /// The smallest deviation from the container's time that is a real gap: 60 ms, in ticks. Smaller ones are rounding.
  private static let minimumGap: Int64 = 2_880

  init(_ stored: StoredFile, _ track: StoredTrack) throws(InputError) {
    reader = try refusing { () throws(MediaFile.ReadError) in try stored.reader(of: track) }
    self.track = track
    decoder = try track.audioDecoder()
    queue = AudioQueue(channels: decoder.channels)
    preSkip = track.preSkip
  }

  func read(_ count: Int) throws(InputError) -> AudioSamples {
    while queue.count < count, !isOver { try decodeMore() }
    return queue.take(count)
  }

  func rewind() throws(InputError) {
    let reader = reader
    try refusing { () throws(MediaFile.ReadError) in try reader.rewind() }
    decoder = try track.audioDecoder()
    queue = AudioQueue(channels: decoder.channels)
    position = 0
    preSkip = track.preSkip
    first = nil
    silence = 0
    waiting = nil
    isOver = false
  }

  private func decodeMore() throws(InputError) {
    if silence > 0 { return addSilence() }
    let reader = reader
    let frame =
      if let waiting { waiting } else { try refusing { () throws(MediaFile.ReadError) in try reader.next() } }
    waiting = nil
    guard let frame else {
      queue.append(samples: decoder.finish())
      isOver = true
      return
    }
    let start = frame.time / MediaTimebase.units(perTickOf: .audio)
    let origin = first ?? start
    first = origin
    let gap = start - origin - position
    if gap >= Self.minimumGap {
      silence = gap
      waiting = frame
      return
    }
    // A packet that cannot be decoded leaves a gap, which becomes silence because of the next packet's time.
    let (samples, ticks): ([Float], Int64)
    do throws(InputError) {
      (samples, ticks) = try decoder.decode(frame.payload)
    } catch {
      return undecodable.add(at: frame.time, reason: error.description)
    }
    position += ticks
    let skipped = min(preSkip, ticks)
    preSkip -= skipped
    queue.append(samples: samples.dropFirst(Int(skipped) * decoder.channels))
  }

  /// Fills a gap, one second at a time, so that memory does not grow with it.
  private func addSilence() {
    let ticks = min(silence, Int64(AudioSamples.rate))
    silence -= ticks
    position += ticks
    queue.append(silence: Int(ticks))
  }

  /// Checks a file's audio track.
  static func check(_ stored: StoredFile, _ track: StoredTrack) throws(InputError) -> CheckedAudio {
    let audio = try StoredAudio(stored, track)
    _ = try audio.read(1)
    let unit = MediaTimebase.units(perTickOf: .audio)
    let start = track.start - stored.origin + track.preSkip * unit
    let length = max(MediaTimebase.commonSpan, track.end - track.start - track.preSkip * unit)
    return CheckedAudio(
      summary: track.description, channels: audio.decoder.channels, extent: .range(start..<start + length),
      open: { _ throws(InputError) in try StoredAudio(stored, track) })
  }
}

/// Decodes the packets of one track to audio at 48 kHz.
protocol AudioDecoding: AnyObject {
  /// 1 or 2.
  var channels: Int { get }

  /// Decodes one packet.
  ///
  /// - Returns: interleaved samples, and the packet's duration in ticks of 48 kHz. A decoder that resamples returns
  ///   some of its samples later.
  func decode(_ packet: ByteBuffer) throws(InputError) -> (samples: [Float], ticks: Int64)

  /// Returns the remaining samples.
  func finish() -> [Float]
}

extension StoredTrack {
  /// Creates a decoder of the track, at its start.
  func audioDecoder() throws(InputError) -> any AudioDecoding {
    switch codec {
    case .call(let codec): return try CallAudioDecoding(codec, channels: channels == 2 ? 2 : 1)
    case .vorbis: return try VorbisDecoding(codecPrivate)
    }
  }
}

/// Decodes the packets of a codec that calls carry.
final class CallAudioDecoding: AudioDecoding {
  let channels: Int
  private let decoder: AudioDecoder

  init(_ codec: Codec, channels: Int) throws(InputError) {
    self.channels = channels
    decoder = try coding { () throws(CodecError) in try AudioDecoder(codec, channels: channels) }
  }

  func decode(_ packet: ByteBuffer) throws(InputError) -> (samples: [Float], ticks: Int64) {
    let decoder = decoder
    let audio = try coding { () throws(CodecError) in try decoder.decode(packet) }
    return (audio.samples, Int64(audio.count))
  }

  func finish() -> [Float] { [] }
}
