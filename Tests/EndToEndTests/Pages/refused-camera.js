// Runs before the page's own scripts: the page is denied camera and microphone.
navigator.mediaDevices.getUserMedia = async () => {
  throw new DOMException('Permission denied', 'NotAllowedError');
};
