import FileSource
import Logging
import Media

/// Checks all inputs before any of them is played, and combines them to a plan.
struct CameraInputs {
  let plan: CameraPlan
  let summary: String
  let notes: [String]

  /// The frame rates that `fps` accepts.
  static let rates = 0.1...120.0
  /// The frame rate cap, in fps, unless a rate is requested.
  static let fastest: Int64 = 60

  init(_ options: LiveCamera.Options, standardInput: Int32, logger: Logger) throws(LiveCamera.OpeningError) {
    let rate = try Self.rate(options)
    if let size = options.size {
      do throws(InputError) {
        try VideoScaling.check(wanted: size)
      } catch {
        throw LiveCamera.OpeningError(error.description)
      }
    }

    var main = try Self.named(options.input) { () throws(InputError) in
      switch options.input {
      case .file(let path):
        try InputFile.check(path, rate: rate, storing: options.permitsStoredVideo ? options.codecsSentAsStored : [])
      case .standardInput:
        InputFile.Found(
          video: try PipedVideo.check(standardInput, size: options.size, rate: rate, logger: logger), audio: nil)
      case .pattern:
        InputFile.Found(
          video: try PatternVideo.check(size: options.size, rate: rate), audio: PatternAudioInput.check())
      }
    }
    var parts = [Self.name(options.input)]
    var notes = main.notes + (main.video?.notes ?? [])
    if let path = options.audio {
      main.audio = try Self.audio(path, rate: rate, behind: main)
      parts.append(path)
    }
    notes += main.audio?.notes ?? []

    let storedVideo = options.audio == nil ? main.storedVideo : nil
    if main.video != nil, storedVideo == nil, options.videoCodec.properties.encoder == nil {
      let codec = options.videoCodec.properties.name
      let reason = (main.encodingReason ?? options.encodingReason).map { "\($0), and nothing here encodes \(codec)" }
      throw LiveCamera.OpeningError(
        "\(parts[0]) cannot be sent as \(codec): \(reason ?? "that is sent from files only, as they have it").")
    }
    let fit = main.video.map { VideoScaling($0.size, wanted: options.size) }
    var evenRate = rate
    if let video = main.video, rate == nil, video.interval < Int64(MediaTimebase.rate) / Self.fastest {
      evenRate = VideoRate(frames: Self.fastest)
      notes.append("Its frame rate is capped at \(Self.fastest) fps.")
    }
    if options.size == nil, let note = fit?.note { notes.append(note) }
    if main.video == nil, options.size != nil || options.fps != nil {
      notes.append("It has no video, so a size or a frame rate has no effect.")
    }
    let files: [MediaKind: String] = [.video: parts[0], .audio: parts[parts.count - 1]]
    plan = CameraPlan(
      name: parts.joined(separator: " with "), files: files, video: main.video, storedVideo: storedVideo,
      audio: main.audio,
      rounds: LoopSchedule(
        period: CameraPlan.period(storedVideo.map { .range($0.range) } ?? main.video?.extent, main.audio?.extent),
        loops: options.loops),
      fit: fit, rate: evenRate, videoCodec: options.videoCodec, maximumBitrate: options.maximumBitrate,
      sizeChange: options.sizeChange,
      owner: options.owner)
    if let storedVideo {
      let audio = main.audio.map { "; \($0.summary), encoded live" } ?? ""
      summary = "\(plan.name): \(storedVideo.summary), sent as stored\(audio)"
      self.notes = main.notes
      return
    }
    let found = [main.video?.summary, main.audio?.summary].compactMap(\.self)
    let shown = fit.map { $0.target == $0.source ? "" : ", as \($0.target)" } ?? ""
    let reason = (main.encodingReason ?? options.encodingReason).map { ", because \($0)" } ?? ""
    summary = "\(plan.name): \(found.joined(separator: "; "))\(shown), encoded live\(reason)"
    self.notes = notes
  }

  private static func rate(_ options: LiveCamera.Options) throws(LiveCamera.OpeningError) -> VideoRate? {
    guard let fps = options.fps else { return nil }
    guard rates.contains(fps), let rate = VideoRate(fps) else {
      throw LiveCamera.OpeningError(
        "\(text(fps)) frames a second are not possible: the rate must be \(text(rates.lowerBound)) to \(text(rates.upperBound))."
      )
    }
    return rate
  }

  private static func text(_ number: Double) -> String {
    number == number.rounded() && abs(number) < 1e9 ? "\(Int(number))" : "\(number)"
  }

  /// Returns the audio of a file that is combined with the video of another input.
  private static func audio(
    _ path: String, rate: VideoRate?, behind main: InputFile.Found
  ) throws(LiveCamera.OpeningError) -> CheckedAudio {
    guard main.video != nil else {
      throw LiveCamera.OpeningError("\(path) cannot be combined with the input: the input has no video.")
    }
    let found = try named(.file(path)) { () throws(InputError) in try InputFile.check(path, rate: rate) }
    guard var audio = found.audio else {
      throw LiveCamera.OpeningError(path, InputError("it has no audio"))
    }
    // Combined inputs begin together, wherever each of them begins in its own file.
    if case .range(let range) = audio.extent { audio.extent = .range(0..<range.count64) }
    audio.notes = found.notes.filter { !$0.contains("video") } + audio.notes
    return audio
  }

  private static func named<Result>(
    _ input: LiveCamera.Options.Input, _ body: () throws(InputError) -> Result
  ) throws(LiveCamera.OpeningError) -> Result {
    do throws(InputError) {
      return try body()
    } catch {
      throw LiveCamera.OpeningError(name(input), error)
    }
  }

  private static func name(_ input: LiveCamera.Options.Input) -> String {
    switch input {
    case .file(let path): path
    case .standardInput: "Standard input"
    case .pattern: "The test pattern"
    }
  }
}

extension Range<Int64> {
  fileprivate var count64: Int64 { upperBound - lowerBound }
}
