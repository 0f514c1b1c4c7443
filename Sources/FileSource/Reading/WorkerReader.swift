package import Media
package import MediaMessages
package import MediaWorker
import NIOCore

/// Reads one track of an MP4 or QuickTime file, which the program `chatbot-media` takes apart. The main program keeps one response in
/// memory, at most some MiB.
///
/// Left out on purpose: what lies outside of the edit list, which only a decoder can leave out.
final class WorkerReader: ContainerReader {
  private let session: MediaFileSession
  private let track: FileDescription.Track
  /// Converts the frames of a video track; nil if they need no conversion.
  private let framing: (any VideoFraming)?
  private var waiting = CircularBuffer<ContainerFrame>()
  private var isAtEnd = false
  private var limit: WorkerFile.ByteLimit
  private var hasDiscardedFrames = false
  let isTruncated: Bool

  init(_ file: OpenFile, track index: UInt64) throws(MediaFile.ReadError) {
    session = try WorkerFile.session(file)
    limit = WorkerFile.ByteLimit(file)
    guard let index = Int(exactly: index), index < session.description.tracks.count else { throw .changed }
    track = session.description.tracks[index]
    isTruncated = session.description.isTruncated
    framing = Codec(ffmpeg: track.codec)?.properties.bitstream?.framing(codecPrivate: track.extradata)
    let session = session
    try WorkerFile.asking { () throws(MediaWorkerError) in try session.select(index) }
  }

  func next() throws(MediaFile.ReadError) -> ContainerFrame? {
    while true {
      if let frame = waiting.popFirst() { return frame }
      if isAtEnd { return nil }
      try readMore()
    }
  }

  private func readMore() throws(MediaFile.ReadError) {
    var found: [(packet: FilePackets.Packet, payload: ByteBuffer)] = []
    let session = session
    let more = try WorkerFile.asking { () throws(MediaWorkerError) in
      try session.packets(wantsBytes: true) { found.append(($0, ByteBuffer(bytes: $1))) }
    }
    isAtEnd = !more
    for (packet, payload) in found {
      try limit.add(packet)
      if packet.isEncrypted { throw .unsupported("its \(WorkerFile.name(ofCodec: track.codec)) track is encrypted") }
      hasDiscardedFrames = hasDiscardedFrames || packet.isDiscarded
      guard let time = packet.time else { throw .unsupported("a frame has no time") }
      guard time.magnitude <= MediaTimebase.latest.magnitude else {
        throw .unsupported("it is longer than \(MediaTimebase.latestHours) h")
      }
      waiting.append(
        ContainerFrame(
          time: time, length: packet.duration > 0 ? min(packet.duration, MediaTimebase.latest) : nil,
          // What cannot be converted is no frame, and is skipped as such.
          payload: framing?.frame(payload) ?? payload, position: 0))
    }
  }

  var orientation: VideoOrientation { track.orientation }

  var obstacle: String? {
    if orientation != .upright { return "it is shown \(orientation)" }
    return hasDiscardedFrames ? "its edit list leaves out frames that others depend on" : nil
  }
}

extension FileDescription.Track {
  /// How frames are turned before they are shown. The description mirrors them first.
  package var orientation: VideoOrientation {
    VideoOrientation(rotation: (isMirrored ? 360 - rotation : rotation) % 360, isMirrored: isMirrored) ?? .upright
  }
}

/// What this program says of files that the program `chatbot-media` takes apart.
package enum WorkerFile {
  /// Starts a process that reads a file.
  package static func session(_ file: OpenFile) throws(MediaFile.ReadError) -> MediaFileSession {
    do throws(MediaWorkerError) {
      return try MediaFileSession(descriptor: file.descriptor, size: file.size)
    } catch {
      throw reason(error)
    }
  }

  /// Runs code that asks the process, and converts its error.
  package static func asking<Result>(
    _ body: () throws(MediaWorkerError) -> Result
  ) throws(MediaFile.ReadError) -> Result {
    do throws(MediaWorkerError) {
      return try body()
    } catch {
      throw reason(error)
    }
  }

  private static func reason(_ error: MediaWorkerError) -> MediaFile.ReadError {
    switch error {
    case .unavailable(let reason): .noWorker(reason)
    case .ended(let reason): .unsupported("the process that reads it \(reason)")
    // What follows adds the full stop.
    case .refused(let reason): .unsupported(String(reason.reversed().drop { $0 == "." }.reversed()))
    }
  }

  /// Bounds what is read of a track: an index can name the same bytes again and again, and make a small file endless.
  package struct ByteLimit {
    private var left: Int

    package init(_ file: OpenFile) {
      // Containers can leave out what all frames have in common.
      left = Int(clamping: min(file.size, UInt64(Int.max / 4))) * 2 + (1 << 20)
    }

    /// Counts a packet.
    package mutating func add(_ packet: FilePackets.Packet) throws(MediaFile.ReadError) {
      left -= max(1, packet.size)
      if left < 0 { throw .unsupported("its index names more bytes than the file has") }
    }
  }

  /// Returns the usual name of a codec.
  ///
  /// - Parameter codec: its name in FFmpeg, printable ASCII.
  package static func name(ofCodec codec: String) -> String {
    if let known = Codec(ffmpeg: codec) { return known.properties.name }
    return names[codec] ?? (codec.isEmpty ? "of a codec that the file does not name" : codec)
  }

  private static let names = [
    "mpeg4": "MPEG-4", "mjpeg": "Motion JPEG", "prores": "ProRes", "aac": "AAC",
    "mp3": "MP3", "vorbis": "Vorbis", "flac": "FLAC", "alac": "ALAC", "ac3": "AC-3", "eac3": "E-AC-3",
    "pcm_mulaw": "PCMU", "pcm_alaw": "PCMA", "adpcm_g722": "G.722", "theora": "Theora", "png": "PNG", "apng": "PNG",
    "adpcm_ms": "ADPCM", "adpcm_ima_wav": "ADPCM", "gsm_ms": "GSM", "pcm_u8": "8-bit PCM",
    "pcm_s16le": "16-bit PCM", "pcm_s16be": "16-bit PCM", "pcm_s24le": "24-bit PCM", "pcm_s24be": "24-bit PCM",
    "pcm_s32le": "32-bit PCM", "pcm_s32be": "32-bit PCM", "pcm_f32le": "float PCM", "pcm_f32be": "float PCM",
    "pcm_f64le": "double PCM", "pcm_f64be": "double PCM",
  ]

  /// The names of the codecs of a kind that are played, for texts.
  package static func names(of kind: MediaKind) -> String {
    switch kind {
    case .video: "VP8, VP9, H.264, H.265, AV1, MPEG-4 and Motion JPEG"
    case .audio: "Opus, AAC, MP3, Vorbis, FLAC, ALAC, AC-3, PCM, G.711 and G.722"
    }
  }
}
