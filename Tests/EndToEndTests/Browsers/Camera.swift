/// What a page gets when it asks for camera and microphone.
enum Camera {
  /// The browser's own fake devices.
  case own
  /// A picture of 640x480 that flashes and a sound that beeps in each second.
  case flashing
  /// The same with a picture of 320x240, for rooms in which two cores have many pictures to encode.
  case smallFlashing
  /// The flashing picture with so much noise in it that it needs more than 1 Mb/s.
  case noisyFlashing
  /// Pictures of 640x480 with their number and time, to be read by pattern-watch.js.
  case pattern
  /// The test pattern with its sound in 320x240, in order or with one fault.
  case faulty(CameraFault)
  /// A refusal: the page can only watch, and the browser hides its addresses behind names.
  case refused

  /// The start script that brings it about.
  var script: String? {
    get throws {
      switch self {
      case .own: nil
      case .flashing: try Pages.script("flashing-camera")
      case .smallFlashing: try "window.cameraSize = [320, 240];\n" + Pages.script("flashing-camera")
      case .noisyFlashing: try "window.cameraNoise = 400;\n" + Pages.script("flashing-camera")
      case .pattern: try Pages.script("pattern-camera")
      case .faulty(let fault):
        try "window.cameraFault = '\(fault.rawValue)';\n" + Pages.script("faulty-camera-pattern")
          + Pages.script("faulty-camera")
      case .refused: try Pages.script("refused-camera")
      }
    }
  }
}
