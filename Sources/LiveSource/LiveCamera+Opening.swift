import FileSource
public import Logging
public import Media

extension LiveCamera {
  /// Opens what is to be played in the way that fits it best: a file that a call can carry as stored is played so, which
  /// costs nearly nothing; everything else is encoded while it plays. Blocks while it reads files through.
  ///
  /// - Throws: why it cannot be played, as a sentence; nothing has been started then.
  public static func open(
    _ options: Options, logger: Logger = Logger(label: "camera")
  ) throws(OpeningError) -> any FrameSource {
    if case .file(let path) = options.input, let file = try carried(path, options) {
      return MediaFileSource(file, loops: options.loops, owner: options.owner, logger: logger)
    }
    return try LiveCamera(opening: options, logger: logger)
  }

  /// The file, if it can be played as stored and nothing else is requested.
  private static func carried(_ path: String, _ options: Options) throws(OpeningError) -> MediaFile? {
    guard !options.live, options.size == nil, options.fps == nil, options.audio == nil, options.sizeChange == nil else {
      return nil
    }
    do throws(MediaFile.OpeningError) {
      return try MediaFile(opening: path)
    } catch {
      switch error.reason {
      case .otherFormat, .otherCodec: return nil
      default: throw OpeningError(error.description)
      }
    }
  }

  /// Opens what is to be played to be encoded while it plays. Blocks while it reads files through.
  ///
  /// - Throws: why it cannot be played, as a sentence; nothing has been started then.
  public convenience init(
    opening options: Options, logger: Logger = Logger(label: "camera")
  ) throws(OpeningError) {
    try self.init(opening: options, standardInput: 0, logger: logger)
  }

  /// - Parameter standardInput: the descriptor that frames come from.
  convenience init(
    opening options: Options, standardInput: Int32, logger: Logger = Logger(label: "camera")
  ) throws(OpeningError) {
    let checked = try CameraInputs(options, standardInput: standardInput, logger: logger)
    self.init(checked.plan, summary: checked.summary, remarks: checked.remarks, logger: logger)
  }
}
