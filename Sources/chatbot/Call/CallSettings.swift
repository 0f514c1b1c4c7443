import BotPeer
import Call
import LiveSource
import Logging
import Media
import OptionValues

/// What the command line says of a call. Each part travels whole to what it is for.
struct CallSettings: Sendable {
  var server: ServerSettings
  /// Whether the embedded server may start if no server listens.
  var mayStartServer = false
  /// The input to play; nil for none.
  var camera: LiveCamera.Options?
  /// The number of event loops for media.
  var mediaThreads = 1
  var call = RoomCall.Settings()

  init(server: ServerSettings) {
    self.server = server
  }

  /// Reads the files of secrets, and returns what the options of a call and those of a check have in common.
  init(_ connection: ConnectionOptions, _ playing: PlayOptions, sends: Bool, receives: Bool) throws(CallFailure) {
    let settings = try connection.settings(sends: sends, receives: receives, sending: playing.sendCodec)
    server = settings.server
    camera = playing.camera(allowing: connection.media.videoCodecs)
    mediaThreads = connection.mediaThreads ?? 1
    call.room = settings.server.roomName
    call.peer = settings.peer
    call.peer.maximumSendBitrate = playing.maxBitrate.bitsPerSecond
    call.media.waitsForConnection = !playing.loops
  }
}

extension LiveCamera.Options {
  /// Opens the input, and logs what a user may want to know of it.
  ///
  /// - Parameter isAnnounced: Whether its content is logged too.
  func open(log: Logger, isAnnounced: Bool = false) throws(CallFailure) -> any FrameSource {
    do {
      let source = try LiveCamera.open(self, logger: log)
      if isAnnounced { log.info("camera", metadata: ["content": "\(source.summary)"]) }
      for note in source.notes { log.warning("\(note)", metadata: ["camera": "\(name)"]) }
      return source
    } catch {
      throw CallFailure(.fileNotPlayable, error.description)
    }
  }

  /// The name of the input, for log messages.
  private var name: String {
    switch input {
    case .file(let path): path
    case .standardInput: "standard input"
    case .pattern: "pattern"
    }
  }
}
