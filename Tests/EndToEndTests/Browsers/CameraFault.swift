/// The fault of the camera or microphone of `faulty-camera.js`.
enum CameraFault: String, Sendable, CaseIterable {
  /// No fault.
  case none
  /// The frames are black.
  case black
  /// The audio is silent.
  case silent
  /// The frame rate is 5 fps.
  case slow
  /// No frame is captured for 2 s, 3 s after the devices were opened.
  case freeze
  /// The audio is 300 ms late.
  case lateAudio = "late-sound"
  /// The page leaves the room 3 s after the devices were opened.
  case leaving
}
