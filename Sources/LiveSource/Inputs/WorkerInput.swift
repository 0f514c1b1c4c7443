import Codecs
import FileSource
import Media
import MediaMessages
import MediaWorker

/// Checks a file that the program `chatbot-media` reads and decodes.
struct WorkerInput {
  private let file: OpenFile
  private let path: String
  private let description: FileDescription
  private let samples: Int64?
  private var notes: [String] = []

  /// The minimum length: 10 ms, in units. A shorter file would restart all the time.
  private static let minimumLength = Int64(MediaTimebase.rate) / 100

  /// What is known of a track after it was read through, in units of `MediaTimebase.rate`.
  struct Scan: Hashable {
    var frames = 0
    var start: Int64 = .max
    var end: Int64 = .min
    /// The time of the last frame in the order of decoding, for files that state no durations.
    private var last: Int64?
    private var interval: Int64 = 0
    /// The end of what is decoded and not heard, by the first packet that says so; it may be that of a later packet.
    private var skipEnd: Int64 = .min

    mutating func add(_ packet: FilePackets.Packet) {
      if let time = packet.time, packet.skipAtStart > 0 {
        skipEnd = max(skipEnd, time &+ min(packet.skipAtStart, MediaTimebase.latest))
      }
      // What a file leaves out is decoded, and neither shown nor heard.
      guard !packet.isDiscarded, let time = packet.time else { return }
      frames += 1
      start = min(start, max(time, skipEnd))
      let duration = min(max(0, packet.duration), MediaTimebase.latest)
      if let last, duration == 0 { interval = max(interval, abs(time &- last)) }
      last = time
      end = max(end, time &+ duration &- min(packet.skipAtEnd, MediaTimebase.latest))
    }

    /// The end of the last frame, of which the file may state no duration.
    var range: Range<Int64>? {
      guard frames > 0, start < .max else { return nil }
      let end = end > start ? end : start &+ max(interval, Int64(MediaTimebase.rate) / 30)
      return start..<max(end, start + 1)
    }
  }

  /// - Parameters:
  ///   - storing: the codecs in which video may be sent as stored.
  ///   - samples: those of each channel, if the file's audio is PCM, which is not read through then; nil if that is not known.
  static func check(
    _ path: String, _ file: OpenFile, storing: [Codec], samples: Int64? = nil
  ) throws(InputError) -> InputFile.Found {
    let session = try refusing { () throws(MediaFile.ReadError) in try WorkerFile.session(file) }
    var input = WorkerInput(file: file, path: path, description: session.description, samples: samples)
    return try input.check(session, storing: storing)
  }

  private init(file: OpenFile, path: String, description: FileDescription, samples: Int64?) {
    self.samples = samples
    self.file = file
    self.path = path
    self.description = description
  }

  private mutating func check(
    _ session: MediaFileSession, storing: [Codec]
  ) throws(InputError) -> InputFile.Found {
    let video = try choose(.video, named: .video)
    let audio = try choose(.audio, named: .audio)
    guard video != nil || audio != nil else {
      let found = description.tracks.map { WorkerFile.name(ofCodec: $0.codec) }
      throw InputError(.noTrack(found: found))
    }
    if description.isTruncated { notes.append("It is truncated; the whole frames are played.") }
    let skipped = description.tracks.count { $0.kind != .other } - (video == nil ? 0 : 1) - (audio == nil ? 0 : 1)
    if skipped > 0 { notes.append("\(skipped) more \(skipped == 1 ? "track is" : "tracks are") skipped.") }
    let videoScan = try video.map { track throws(InputError) in try scan(track, session) }
    let audioScan = try audio.map { track throws(InputError) in try scan(track, session) }
    guard let origin = [videoScan?.range, audioScan?.range].compactMap({ $0?.lowerBound }).min() else {
      throw InputError(.noMedia)
    }
    let length = StoredFile.period(of: [videoScan?.range, audioScan?.range].compactMap(\.self))
    guard length >= Self.minimumLength else {
      throw InputError("it lasts \(MediaTimebase.text(length)) s, and 0.01 s is the minimum")
    }
    var found = InputFile.Found()
    if let video, let videoScan { found.video = try check(video: video, videoScan, origin: origin) }
    if let audio, let audioScan { found.audio = try check(audio: audio, audioScan, origin: origin) }
    guard found.video != nil || found.audio != nil else { throw InputError(.noMedia) }
    if let video, found.video != nil { try store(video, storing, origin: origin, in: &found) }
    found.notes = notes
    return found
  }

  /// Returns the index of the first track of a kind that is decoded; nil if there is none of that kind.
  private mutating func choose(
    _ kind: FileDescription.Track.Kind, named name: MediaKind
  ) throws(InputError) -> Int? {
    let candidates = description.tracks.indices.filter { description.tracks[$0].kind == kind }
    guard let first = candidates.first else { return nil }
    guard let index = candidates.first(where: { description.tracks[$0].isDecodable }) else {
      let codec = WorkerFile.name(ofCodec: description.tracks[first].codec)
      if description.tracks[first].isEncrypted { throw InputError("its \(name.rawValue) is encrypted") }
      throw InputError("its \(name.rawValue) is \(codec), and \(WorkerFile.names(of: name)) are played")
    }
    if description.tracks[index].isEncrypted { throw InputError("its \(name.rawValue) is encrypted") }
    return index
  }

  /// Returns what the header says of PCM; nil if it does not tell enough, or if the audio is of another codec.
  private func stated(_ index: Int) throws(InputError) -> Scan? {
    let track = description.tracks[index]
    guard let samples, samples > 0, track.codec.hasPrefix("pcm_"),
      MediaLimits.fileSampleRates.contains(track.sampleRate)
    else { return nil }
    let rate = Int64(track.sampleRate)
    guard samples / rate < MediaTimebase.latestHours * 3_600 else { throw tooLong }
    var scan = Scan()
    scan.add(.init(time: 0, duration: samples * Int64(MediaTimebase.rate) / rate, isKeyframe: true, size: 0))
    return scan
  }

  private var tooLong: InputError { InputError("it is longer than \(MediaTimebase.latestHours) h") }

  /// Reads the times of a track through, so that no error appears later.
  private func scan(_ index: Int, _ session: MediaFileSession) throws(InputError) -> Scan {
    if let stated = try stated(index) { return stated }
    var scan = Scan()
    var isEncrypted = false
    var isTooLong = false
    var limit = WorkerFile.ByteLimit(file)
    try asking { () throws(MediaWorkerError) in try session.select(index) }
    var hasMore = true
    while hasMore, !isEncrypted, !isTooLong {
      var found: [FilePackets.Packet] = []
      hasMore = try asking { () throws(MediaWorkerError) in
        try session.packets(wantsBytes: false) { packet, _ in found.append(packet) }
      }
      for packet in found {
        try refusing { () throws(MediaFile.ReadError) in try limit.add(packet) }
        isEncrypted = isEncrypted || packet.isEncrypted
        isTooLong = isTooLong || (packet.time ?? 0).magnitude > MediaTimebase.latest.magnitude
        if !isTooLong { scan.add(packet) }
      }
    }
    let name = WorkerFile.name(ofCodec: description.tracks[index].codec)
    if isEncrypted { throw InputError("its \(name) track is encrypted") }
    if isTooLong { throw tooLong }
    return scan
  }

  private func check(video index: Int, _ scan: Scan, origin: Int64) throws(InputError) -> CheckedVideo? {
    guard let range = scan.range else { return nil }
    let track = description.tracks[index]
    let length = Int64(range.count)
    guard Int64(scan.frames) <= length / (Int64(MediaTimebase.rate) / 1_000) else {
      throw InputError("its video has more than 1000 frames a second")
    }
    let orientation = track.orientation
    let file = file
    let open = { @Sendable () throws(InputError) in
      try WorkerVideo(file, track: index, origin: origin, orientation: orientation)
    }
    // The first frame is decoded, so that what cannot be is reported before playback.
    let input = try open()
    guard let size = try input.firstSize() else { throw InputError("no frame of its video can be decoded") }
    try VideoScaling.check(size)
    let turned = orientation == .upright ? "" : ", \(orientation)"
    return CheckedVideo(
      summary: "\(WorkerFile.name(ofCodec: track.codec)) \(size), \(scan.frames) frames in "
        + "\(MediaTimebase.text(length)) s\(turned)",
      size: size, interval: max(1, length / Int64(max(1, scan.frames))),
      extent: .range(range.lowerBound - origin..<range.upperBound - origin),
      open: { _ throws(InputError) in try open() })
  }

  private func check(audio index: Int, _ scan: Scan, origin: Int64) throws(InputError) -> CheckedAudio? {
    guard let range = scan.range else { return nil }
    let track = description.tracks[index]
    let rates = MediaLimits.fileSampleRates
    guard rates.contains(track.sampleRate) else {
      throw InputError(
        "its audio has a sample rate of \(track.sampleRate) Hz, and \(rates.lowerBound) to \(rates.upperBound) are possible"
      )
    }
    guard (1...MediaLimits.fileChannels).contains(track.channels) else {
      throw InputError(
        "its audio has \(track.channels) channels, and 1 to \(MediaLimits.fileChannels) are possible")
    }
    let file = file
    let open = { @Sendable () throws(InputError) in
      try WorkerAudio(file, track: index, start: range.lowerBound, channels: track.channels)
    }
    let input = try open()
    guard try input.read(1).count == 1 else { throw InputError("no packet of its audio can be decoded") }
    let length = max(MediaTimebase.commonSpan, Int64(range.count))
    let channels =
      switch track.channels {
      case 1: "mono"
      case 2: "stereo"
      default: "\(track.channels) channels mixed to two"
      }
    return CheckedAudio(
      summary: "\(WorkerFile.name(ofCodec: track.codec)) \(channels), \(track.sampleRate) Hz, "
        + "\(MediaTimebase.text(length)) s",
      channels: input.channels, extent: .range(range.lowerBound - origin..<range.lowerBound - origin + length),
      open: { _ throws(InputError) in try open() })
  }

  /// Prepares that video is sent as stored, beside audio that is encoded, or says why it is not.
  private func store(
    _ index: Int, _ codecs: [Codec], origin: Int64, in found: inout InputFile.Found
  ) throws(InputError) {
    if codecs.isEmpty { return }
    let track = description.tracks[index]
    guard let codec = Codec(ffmpeg: track.codec), codecs.contains(codec) else {
      found.encodingReason = "its video is \(WorkerFile.name(ofCodec: track.codec))"
      return
    }
    let stored: StoredFile
    do throws(MediaFile.ReadError) {
      stored = try StoredFile(opening: path, accepting: [codec], kinds: [.video])
    } catch {
      found.encodingReason = error.description
      return
    }
    guard let video = stored.track(.video) else { return }
    found.encodingReason = video.encodingReason
    if video.encodingReason == nil { found.storedVideo = StoredVideoPlan(stored, video, origin: origin) }
  }
}

/// Runs code that asks the process that reads a file, and converts its error.
func asking<Result>(_ body: () throws(MediaWorkerError) -> Result) throws(InputError) -> Result {
  try refusing { () throws(MediaFile.ReadError) in try WorkerFile.asking(body) }
}
